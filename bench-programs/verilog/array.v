// An array multiplier and an accumulator around it: enough for Yosys to be busy for some seconds.
module array #(parameter W = 24) (input clk, input [W-1:0] a, input [W-1:0] b, output reg [2*W+7:0] sum);
    wire [2*W-1:0] rows [0:W];
    assign rows[0] = 0;
    genvar i;
    generate
        for (i = 0; i < W; i = i + 1) begin : row
            assign rows[i + 1] = rows[i] + ({{W{1'b0}}, a & {W{b[i]}}} << i);
        end
    endgenerate
    always @(posedge clk) sum <= sum + rows[W];
endmodule
