//! Plots as SVG text: bars with intervals, curves, boxes, areas. For pages (colours by style variables) and for papers (a file of its own).
//!
//! Rules: a length stands for a quantity from 0, except on the logarithmic axes, which say so; every axis has its unit; letters are 12 pixels high at any
//! width, so each plot is made for its width and not scaled.

use super::escaped;
use std::fmt::Write as _;

/// Widths that pages use: of windows above and below 700 pixels.
pub const WIDTHS: [(f64, &str); 2] = [(760.0, "wide"), (350.0, "narrow")];
/// Width of a letter, about, for what must fit.
const LETTER: f64 = 6.6;

/// What a page's style needs for plots.
pub const STYLE: &str = "
svg.plot text { font:12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; fill:var(--text); paint-order:stroke; stroke:var(--bg); stroke-width:3px; stroke-linejoin:round; } svg.plot text.m { fill:var(--muted); } svg.plot text.b { font-weight:600; }
svg.plot line.g { stroke:var(--line); stroke-width:1; } svg.plot line.a { stroke:var(--muted); stroke-width:1; } svg.plot line.r { stroke:var(--text); stroke-width:1.5; stroke-dasharray:5 3; }
svg.plot line.e { stroke:var(--text); stroke-width:1.3; } svg.plot path.c { fill:none; stroke-width:2; stroke-linejoin:round; }
";

/// The variables of [`STYLE`] for a file of its own: on white paper.
const PAPER: &str = ":root { --bg:#fff; --text:#111; --muted:#444; --line:#d8d8d8; --s0:#c9701c; --s1:#2f74b5; --s2:#2d8457; --s3:#7a4fa8; --s4:#a8405d; --s5:#5d6776; --s6:#8a7320; --s7:#2a8789; --optimizing:#c9701c; --baseline:#2f74b5; }";

/// Draws for a page: once for each width.
pub fn both(draw: impl Fn(f64) -> String) -> String {
    WIDTHS.iter().map(|&(width, class)| draw(width).replacen("class=\"plot\"", &format!("class=\"plot {class}\""), 1)).collect()
}

/// A drawing as a file of its own; `warning`, if any, stands in its corner.
pub fn standalone(svg: &str, warning: &str) -> String {
    let style = format!("<style>{PAPER}{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
    let end = svg.find('>').map_or(0, |at| at + 1);
    let warning =
        if warning.is_empty() { String::new() } else { format!("<text x=\"8\" y=\"99%\" class=\"m\">{}</text>", escaped(warning)) };
    let body = svg[end..].strip_suffix("</svg>").unwrap_or(&svg[end..]);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}{style}{body}{warning}</svg>\n", &svg[..end])
}

/// Colour of what has no verdict; no series has it.
pub const GREY: &str = "var(--s5)";

/// Colour of a series.
pub fn series(index: usize) -> String {
    format!("var(--s{})", [0, 1, 2, 3, 4, 6, 7][index % 7])
}

struct Svg {
    text: String,
}

impl Svg {
    fn new(width: f64, height: f64, what: &str) -> Svg {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">",
            escaped(what)
        );
        Svg { text }
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        _ = write!(self.text, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, title: &str) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        _ = write!(
            self.text,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"><title>{}</title></rect>",
            escaped(title)
        );
    }

    fn words(&mut self, (x, y): (f64, f64), anchor: &str, class: &str, text: &str) {
        _ = write!(self.text, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>", escaped(text));
    }

    fn end(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }
}

/// An axis from 0, or from a decade where it is logarithmic.
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    ticks: Vec<f64>,
}

impl Axis {
    /// From 0 to a round number above `most`, with at most `count` steps.
    pub fn linear(most: f64, count: usize) -> Axis {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let rough = most / count.max(1) as f64;
        let decade = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|by| by * decade).find(|&step| step >= rough * 0.999_999).unwrap_or(10.0 * decade);
        let steps = (most / step - 1e-9).ceil().max(1.0) as usize;
        Axis { low: 0.0, high: steps as f64 * step, logarithmic: false, ticks: (0..=steps).map(|tick| tick as f64 * step).collect() }
    }

    /// Whole powers of ten around what lies between `least` and `most`.
    pub fn logarithmic(least: f64, most: f64) -> Axis {
        let positive = |value: f64, or: f64| if value.is_finite() && value > 0.0 { value } else { or };
        let (least, most) = (positive(least, 1.0), positive(most, 10.0));
        let low = (least.log10() + 1e-9).floor();
        let high = (most.log10() - 1e-9).ceil().max(low + 1.0);
        let ticks = (low as i32..=high as i32).map(|power| 10f64.powi(power)).collect();
        Axis { low, high, logarithmic: true, ticks }
    }

    /// Powers of two around what lies between `least` and `most`, with 1 among them and at most `count` steps: for ratios.
    fn ratios(least: f64, most: f64, count: usize) -> Axis {
        let power = |value: f64| if value.is_finite() && value > 0.0 { value.log2().clamp(-30.0, 30.0) } else { 0.0 };
        let (low, high) = ((power(least) + 1e-9).floor().min(0.0), (power(most) - 1e-9).ceil().max(1.0));
        let step = ((high - low) / count.max(1) as f64).ceil().max(1.0);
        let (low, high) = ((low / step).floor() as i32, (high / step).ceil() as i32);
        let at = |tick: i32| f64::from(tick) * step;
        let ticks = (low..=high).map(|tick| at(tick).exp2()).collect();
        Axis { low: at(low) * 2f64.log10(), high: at(high) * 2f64.log10(), logarithmic: true, ticks }
    }

    /// 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(1e-300).log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

/// A tick's label without needless digits.
fn label(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e6 || value.abs() < 1e-3) {
        return format!("{value:e}");
    }
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() { "0".into() } else { text.into() }
}

fn shortened(text: &str, width: f64) -> String {
    let most = (width / LETTER).max(4.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}

/// Where the middle of a text is to be, so that all of it is inside.
fn inside(x: f64, text: &str, width: f64) -> f64 {
    let half = (text.chars().count() as f64 * LETTER + 4.0).min(width) / 2.0;
    x.clamp(half, width - half)
}

/// The same of a row's name, whose end says whether it is a control.
fn shortened_name(text: &str, width: f64) -> String {
    const CONTROL: &str = " (control)";
    match text.strip_suffix(CONTROL) {
        Some(name) => shortened(name, width - CONTROL.len() as f64 * LETTER) + CONTROL,
        None => shortened(text, width),
    }
}

/// A bar with its interval.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// What it is of.
    pub name: String,
    /// Its length; none: no figure, and `note` says why.
    pub value: Option<f64>,
    /// Where the value may lie.
    pub interval: Option<(f64, f64)>,
    /// Stands behind the bar.
    pub note: String,
    /// A colour.
    pub colour: String,
}

/// Ratios so far apart are drawn on a logarithmic axis.
const FAR_APART: f64 = 5.0;

/// Bars below each other, in groups with headings, from 0; ratios that are far apart from their `reference`, on a logarithmic axis that says so.
pub fn bars(width: f64, what: &str, unit: &str, groups: &[(String, Vec<Bar>)], reference: Option<(f64, &str)>) -> String {
    let narrow = width < 500.0;
    let names = groups.iter().flat_map(|(name, bars)| std::iter::once(name).chain(bars.iter().map(|bar| &bar.name)));
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0) as f64 * LETTER;
    // Short names may be of wide letters, and a group's is bold.
    let left = if narrow { 8.0 } else { longest.min(230.0_f64.max(0.3 * width)) + 26.0 };
    let note =
        groups.iter().flat_map(|(_, bars)| bars).filter(|bar| bar.value.is_some()).map(|bar| bar.note.chars().count()).max().unwrap_or(0);
    let right = (note as f64 * LETTER + 12.0).min(width * 0.36).max(16.0);
    let (row, heading) = (if narrow { 36.0 } else { 22.0 }, 26.0);
    let headed = groups.iter().filter(|(name, _)| !name.is_empty()).count() as f64;
    let top = if reference.is_some() { 24.0 } else { 6.0 };
    let count: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    let bottom = top + headed * heading + count as f64 * row;
    let figures = || groups.iter().flat_map(|(_, bars)| bars).flat_map(|bar| [bar.value, bar.interval.map(|it| it.1)]).flatten();
    let most = figures().fold(0.0, f64::max);
    let steps = if narrow { 4 } else { 6 };
    let lows = groups.iter().flat_map(|(_, bars)| bars).filter_map(|bar| bar.interval.map(|it| it.0));
    let least = lows.chain(figures()).filter(|low| *low > 0.0).fold(f64::INFINITY, f64::min);
    let (axis, begin) = match reference {
        Some((at, _)) if most > at * FAR_APART || least < at / FAR_APART => (Axis::ratios(least.min(at), most.max(at), steps), at),
        _ => (Axis::linear(most.max(reference.map_or(0.0, |it| it.0)), steps), 0.0),
    };
    let unit = if axis.logarithmic { format!("{unit}, logarithmic") } else { unit.to_owned() };
    let x = |value: f64| left + axis.share(value) * (width - left - right);
    let mut svg = Svg::new(width, bottom + 40.0, what);
    for &tick in &axis.ticks {
        svg.line("g", (x(tick), top), (x(tick), bottom));
        let text = label(tick);
        svg.words((inside(x(tick), &text, width), bottom + 15.0), "middle", "m", &text);
    }
    let unit = shortened(&unit, width - 10.0);
    svg.words((inside(left + (width - left - right) / 2.0, &unit, width), bottom + 33.0), "middle", "m", &unit);
    // Words stand above the line of reference, that above the bars.
    let mut words: Vec<((f64, f64), &str, &str, String)> = Vec::new();
    let mut y = top;
    for (name, bars) in groups {
        if !name.is_empty() {
            words.push(((8.0_f64.min(left), y + 17.0), "start", "b", name.clone()));
            y += heading;
        }
        for bar in bars {
            let (bar_y, bar_height) = if narrow { (y + 18.0, 14.0) } else { (y + 3.0, row - 7.0) };
            if narrow {
                words.push(((left, y + 13.0), "start", "", shortened_name(&bar.name, width - 16.0)));
            } else {
                words.push(((left - 8.0, y + 15.0), "end", "", shortened_name(&bar.name, left - 12.0)));
            }
            let middle = bar_y + bar_height / 2.0;
            match bar.value {
                None => words.push(((left + 4.0, middle + 4.0), "start", "m", shortened(&bar.note, width - left - 8.0))),
                Some(value) => {
                    let title = format!("{}: {} {unit} {}", bar.name, super::three(value), bar.note);
                    let (from, to) = (x(begin.min(value)), x(begin.max(value)));
                    svg.rect((from, bar_y), (to - from, bar_height), &bar.colour, &title);
                    let mut end = to;
                    if let Some((low, high)) = bar.interval {
                        svg.line("e", (x(low), middle), (x(high), middle));
                        svg.line("e", (x(low), middle - 4.0), (x(low), middle + 4.0));
                        svg.line("e", (x(high), middle - 4.0), (x(high), middle + 4.0));
                        end = end.max(x(high));
                    }
                    // Not across the line of reference.
                    let covered = end - 3.0..=end + 6.0 + bar.note.chars().count() as f64 * LETTER;
                    let at = reference.map(|(at, _)| x(at)).filter(|line| covered.contains(line)).unwrap_or(end) + 6.0;
                    words.push(((at, middle + 4.0), "start", "m", shortened(&bar.note, width - at)));
                }
            }
            y += row;
        }
    }
    if let Some((value, text)) = reference {
        svg.line("r", (x(value), top - 4.0), (x(value), bottom));
        let anchor = if x(value) > width * 0.6 { "end" } else { "start" };
        words.push(((x(value), 14.0), anchor, "m", text.to_owned()));
    }
    for (at, anchor, class, text) in &words {
        svg.words(*at, anchor, class, text);
    }
    svg.line("a", (left, top), (left, bottom));
    svg.end()
}

/// A curve.
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Points, x ascending.
    pub points: Vec<(f64, f64)>,
    /// A colour.
    pub colour: String,
    /// A step holds until the next point; else straight lines.
    pub steps: bool,
    /// Fill what is below.
    pub filled: bool,
}

/// Curves over a common axis. With `logarithmic_x` the x axis is one of powers of ten.
pub fn curves(width: f64, what: &str, x_unit: &str, y_unit: &str, curves: &[Curve], logarithmic_x: bool) -> String {
    let narrow = width < 500.0;
    let (left, right, height) = (58.0, 24.0, if narrow { 190.0 } else { 220.0 });
    let names: Vec<&Curve> = curves.iter().filter(|curve| !curve.name.is_empty()).collect();
    let mut rows: Vec<(f64, usize)> = Vec::new();
    // Names in as many rows as they need.
    let mut at = (left, 0);
    for curve in &names {
        let need = curve.name.chars().count() as f64 * LETTER + 34.0;
        if at.0 > left && at.0 + need > width {
            at = (left, at.1 + 1);
        }
        rows.push(at);
        at.0 += need;
    }
    let top = 10.0 + if names.is_empty() { 12.0 } else { (rows.last().map_or(0, |row| row.1) + 1) as f64 * 18.0 + 14.0 };
    let bottom = top + height;
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let most_x = points().map(|point| point.0).fold(0.0, f64::max);
    let x_axis = if logarithmic_x {
        let least = points().map(|point| point.0).filter(|&x| x > 0.0).fold(f64::INFINITY, f64::min);
        Axis::logarithmic(least, most_x)
    } else {
        Axis::linear(most_x, if narrow { 4 } else { 8 })
    };
    let y_axis = Axis::linear(points().map(|point| point.1).fold(0.0, f64::max), 4);
    // A linear axis ends where the data do: no empty stretch suggests that something was over.
    let x_end = if logarithmic_x { 1.0 } else { x_axis.share(most_x).max(1e-9) };
    let x = |value: f64| left + (x_axis.share(value) / x_end).min(1.0) * (width - left - right);
    let y = |value: f64| bottom - y_axis.share(value) * height;
    let mut svg = Svg::new(width, bottom + 40.0, what);
    for (curve, &(column, row)) in names.iter().zip(&rows) {
        let base = 8.0 + row as f64 * 18.0;
        svg.rect((column, base), (14.0, 10.0), &curve.colour, "");
        svg.words((column + 19.0, base + 10.0), "start", "", &shortened(&curve.name, width - column - 20.0));
    }
    for &tick in &y_axis.ticks {
        svg.line("g", (left, y(tick)), (width - right, y(tick)));
        svg.words((left - 6.0, y(tick) + 4.0), "end", "m", &label(tick));
    }
    for &tick in &x_axis.ticks {
        if x_axis.share(tick) <= x_end + 1e-9 {
            svg.line("g", (x(tick), top), (x(tick), bottom));
            svg.words((x(tick), bottom + 15.0), "middle", "m", &label(tick));
        }
    }
    svg.words((6.0, top - 8.0), "start", "m", y_unit);
    svg.words((left + (width - left - right) / 2.0, bottom + 33.0), "middle", "m", x_unit);
    for curve in curves {
        let mut path = String::new();
        let mut last: Option<(f64, f64)> = None;
        for &(at, value) in &curve.points {
            let (at, value) = (x(at), y(value));
            match last {
                None => _ = write!(path, "M{at:.1} {value:.1}"),
                Some(_) if curve.steps => _ = write!(path, "H{at:.1}V{value:.1}"),
                Some(_) => _ = write!(path, "L{at:.1} {value:.1}"),
            }
            last = Some((at, value));
        }
        let (Some(&(first, _)), Some((end, _))) = (curve.points.first(), last) else { continue };
        if curve.filled {
            let under = format!("{path}L{end:.1} {bottom:.1}L{:.1} {bottom:.1}Z", x(first));
            _ = write!(svg.text, "<path d=\"{under}\" fill=\"{}\" fill-opacity=\"0.25\"/>", curve.colour);
        }
        let colour = &curve.colour;
        _ = write!(svg.text, "<path class=\"c\" d=\"{path}\" stroke=\"{colour}\"><title>{}</title></path>", escaped(&curve.name));
        if curve.points.len() == 1 {
            _ = write!(svg.text, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>", end, y(curve.points[0].1));
        }
    }
    svg.line("a", (left, bottom), (width - right, bottom));
    svg.line("a", (left, top), (left, bottom));
    svg.end()
}

/// Percentiles of something.
pub struct Box5 {
    /// What it is of.
    pub name: String,
    /// 10th, 25th, 50th, 75th, 90th percentile.
    pub at: [f64; 5],
    /// A colour.
    pub colour: String,
}

/// Boxes from the 25th to the 75th percentile with whiskers from the 10th to the 90th, from 0.
pub fn boxes(width: f64, what: &str, unit: &str, boxes: &[Box5]) -> String {
    let narrow = width < 500.0;
    let (left, right, row) = (if narrow { 78.0 } else { 110.0 }, 66.0, 26.0);
    let bottom = 4.0 + boxes.len() as f64 * row;
    let axis = Axis::linear(boxes.iter().map(|it| it.at[4]).fold(0.0, f64::max), if narrow { 3 } else { 6 });
    let x = |value: f64| left + axis.share(value) * (width - left - right);
    let mut svg = Svg::new(width, bottom + 36.0, what);
    for &tick in &axis.ticks {
        svg.line("g", (x(tick), 2.0), (x(tick), bottom));
        svg.words((x(tick), bottom + 14.0), "middle", "m", &label(tick));
    }
    svg.words((left + (width - left - right) / 2.0, bottom + 30.0), "middle", "m", unit);
    for (index, it) in boxes.iter().enumerate() {
        let y = 4.0 + index as f64 * row;
        let middle = y + row / 2.0 - 2.0;
        let [p10, p25, p50, p75, p90] = it.at;
        svg.words((left - 8.0, middle + 4.0), "end", "", &shortened(&it.name, left - 10.0));
        let title = format!("{}: 10 % {p10:.3}, 25 % {p25:.3}, median {p50:.3}, 75 % {p75:.3}, 90 % {p90:.3} {unit}", it.name);
        // A length from 0, which the box alone is not.
        _ = write!(
            svg.text,
            "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"8\" fill=\"{}\" fill-opacity=\"0.3\"/>",
            middle - 4.0,
            (x(p50) - left).max(0.0),
            it.colour
        );
        svg.line("e", (x(p10), middle), (x(p90), middle));
        svg.rect((x(p25), middle - 7.0), ((x(p75) - x(p25)).max(2.0), 14.0), &it.colour, &title);
        for whisker in [p10, p90] {
            svg.line("e", (x(whisker), middle - 4.0), (x(whisker), middle + 4.0));
        }
        svg.line("r", (x(p50), middle - 9.0), (x(p50), middle + 9.0));
        svg.words((x(p90) + 6.0, middle + 4.0), "start", "m", &format!("{} ns", super::three(p50)));
    }
    svg.line("a", (left, 2.0), (left, bottom));
    svg.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_begin_at_zero_and_reach_the_data() {
        for most in [0.0, 1e-9, 0.7, 1.0, 1.01, 3.5, 9.99, 10.0, 12345.0, 1e12, f64::NAN, f64::INFINITY] {
            for count in [1, 3, 6] {
                let axis = Axis::linear(most, count);
                assert_eq!(axis.ticks[0], 0.0);
                assert!(axis.ticks.len() <= count + 2, "{most} {count}: {:?}", axis.ticks);
                assert!(!most.is_finite() || axis.high >= most, "{most} {count}");
            }
        }
        let axis = Axis::logarithmic(0.02, 40.0);
        assert_eq!(axis.ticks, [0.01, 0.1, 1.0, 10.0, 100.0]);
    }

    #[test]
    fn ratios_far_apart_grow_from_their_reference() {
        assert_eq!(Axis::ratios(0.6, 14.0, 6).ticks, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!(Axis::ratios(1.0, 1.0, 6).ticks, [1.0, 2.0]);
        for (least, most, count) in [(0.01, 900.0, 4), (0.9, 1e9, 6), (f64::NAN, f64::INFINITY, 6)] {
            let axis = Axis::ratios(least, most, count);
            assert!(axis.ticks.contains(&1.0) && axis.ticks.len() <= count + 2, "{:?}", axis.ticks);
        }
        let draw = |values: &[f64]| {
            let bar = |value: &f64| Bar { value: Some(*value), colour: series(0), ..Bar::default() };
            bars(760.0, "w", "speed-up", &[(String::new(), values.iter().map(bar).collect())], Some((1.0, "1")))
        };
        assert!(draw(&[0.06, 0.2]).contains("logarithmic"));
        let rects = |svg: &str| svg.matches("<rect").count();
        let (near, far) = (draw(&[0.5, 2.0]), draw(&[0.5, 16.0]));
        assert_eq!((rects(&near), rects(&far)), (2, 2));
        assert!(!near.contains("logarithmic") && far.contains("speed-up, logarithmic"));
        // Half as fast ends where the other begins.
        let number = |svg: &str, name: &str| -> Vec<f64> {
            svg.split("<rect ")
                .skip(1)
                .map(|rect| rect.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
                .collect()
        };
        let (x, width) = (number(&far, "x"), number(&far, "width"));
        assert!((x[0] + width[0] - x[1]).abs() < 0.2 && (4.0 * width[0] - width[1]).abs() < 1.0, "{x:?} {width:?}");
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([label(0.0), label(2.5), label(0.1 + 0.2), label(100.0), label(2e7)], ["0", "2.5", "0.3", "100", "2e7"]);
    }

    #[test]
    fn a_file_of_its_own_has_its_colours_inside() {
        let svg = bars(760.0, "w", "ns", &[(String::new(), vec![Bar { value: Some(1.0), colour: series(0), ..Bar::default() }])], None);
        let file = standalone(&svg, "careful");
        assert!(file.starts_with("<?xml") && file.contains("--s0:#") && file.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn names_are_escaped_and_numbers_finite() {
        let bar =
            Bar { name: "<a&b>".into(), value: Some(2.0), interval: Some((f64::NAN, f64::INFINITY)), note: "\"".into(), colour: series(1) };
        let svg = bars(350.0, "<x>", "ns", &[("g<".into(), vec![bar])], Some((1.0, "1")));
        assert!(!svg.contains("<a&") && !svg.contains("<x>") && !svg.contains("inf"), "{svg}");
    }
}
