// A counter with enable, synchronous reset and a carry: small, and enough to need technology mapping.
module counter #(parameter WIDTH = 8) (
    input  wire             clk,
    input  wire             reset,
    input  wire             enable,
    output reg  [WIDTH-1:0] count,
    output wire             carry
);
    assign carry = enable & (&count);

    always @(posedge clk)
        if (reset)
            count <= 0;
        else if (enable)
            count <= count + 1'b1;
endmodule
