//! Reports as one HTML file each: works offline, with styles and pictures inside; light and dark by the reader's setting; readable from 360 pixels on.
//!
//! Enters: a run's report ([`run`]) or a benchmark's results ([`bench`]). Leaves: text of a page. Every picture is drawn twice, for wide and for
//! narrow windows, with letters of the same size ([`plot`]).

pub mod bench;
pub mod observed;
pub mod plot;
pub mod run;
pub mod source;

use std::fmt::Display;

/// Text that stands in HTML and attributes.
pub fn escaped(text: impl Display) -> String {
    let text = text.to_string();
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A whole page. `sections`: id, heading and body of each; the headings are the contents.
pub fn page(title: &str, below_title: &str, sections: &[(String, String, String)]) -> String {
    let contents: Vec<String> =
        sections.iter().map(|(id, heading, _)| format!("<a href=\"#{}\">{}</a>", escaped(id), escaped(heading))).collect();
    let bodies: Vec<String> = sections
        .iter()
        .map(|(id, heading, body)| format!("<section id=\"{}\">\n<h2>{}</h2>\n{body}\n</section>", escaped(id), escaped(heading)))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}\n{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n{below_title}\n\
         <nav>{}</nav>\n</header>\n<main>\n{}\n</main>\n<footer>Made by backedge {}.</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(title),
        plot::STYLE,
        escaped(title),
        contents.join(" "),
        bodies.join("\n"),
        env!("CARGO_PKG_VERSION"),
    )
}

/// A table. Cells are HTML; columns whose heading begins with `#` are numbers and stand to the right.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let class = |heading: &str| if heading.starts_with('#') { " class=\"n\"" } else { "" };
    let mut out = String::from("<div class=\"scroll\"><table><thead><tr>");
    for heading in headings {
        out.push_str(&format!("<th{}>{}</th>", class(heading), escaped(heading.trim_start_matches('#'))));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (cell, heading) in row.iter().zip(headings) {
            out.push_str(&format!("<td{}>{cell}</td>", class(heading)));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    out
}

/// Figures with names, as tiles: name, figure, what else there is to say.
pub fn tiles<S: AsRef<str>>(tiles: &[(S, String, String)]) -> String {
    let tile = |(name, figure, more): &(S, String, String)| {
        format!("<div class=\"tile\"><span>{}</span><strong>{figure}</strong><small>{more}</small></div>", escaped(name.as_ref()))
    };
    format!("<div class=\"tiles\">{}</div>", tiles.iter().map(tile).collect::<String>())
}

/// With separators: 1,234,567.
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes with a unit.
pub fn bytes(value: f64) -> String {
    match value {
        _ if value < 1024.0 => format!("{value:.0} B"),
        _ if value < 1_048_576.0 => format!("{:.1} KiB", value / 1024.0),
        _ if value < 1_073_741_824.0 => format!("{:.1} MiB", value / 1_048_576.0),
        _ => format!("{:.2} GiB", value / 1_073_741_824.0),
    }
}

/// Nanoseconds with a unit and three digits.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        abs if abs < 1e3 => (ns, "ns"),
        abs if abs < 1e6 => (ns / 1e3, "µs"),
        abs if abs < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three(value))
}

/// Three significant digits.
pub fn three(value: f64) -> String {
    match value.abs() {
        abs if abs >= 100.0 || abs == 0.0 => format!("{value:.0}"),
        abs if abs >= 10.0 => format!("{value:.1}"),
        abs if abs >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Colours are for both: contrast of text is at least 4.5 to 1 on its ground.
const STYLE: &str = "
:root { --bg:#ffffff; --panel:#f5f7fa; --text:#1b2230; --muted:#566072; --line:#d5dbe5; --link:#1d5fa8;
 --interpreter:#a7b0bd; --baseline:#4a90d0; --optimizing:#e08a2e; --instrumented:#9a6cc4; --trial:#9a6cc4; --compile:#3c4656;
 --good:#1f7a43; --bad:#b8332d; --heat:224,110,40; --cool:64,140,210; --s0:#e08a2e; --s1:#4a90d0; --s2:#3a9d6a; --s3:#9a6cc4; --s4:#c25573; --s5:#7c8798; --s6:#a58b2c; --s7:#3aa5a8; }
@media (prefers-color-scheme: dark) {
:root { --bg:#12151b; --panel:#1b202a; --text:#dde3ec; --muted:#9aa5b8; --line:#343c4b; --link:#7db4f0;
 --interpreter:#6b7584; --baseline:#4f9be0; --optimizing:#f0a04a; --instrumented:#b48ae0; --trial:#b48ae0; --compile:#c8d0dc;
 --good:#5fcf8a; --bad:#ff8a80; --heat:240,130,50; --cool:80,160,235; --s0:#f0a04a; --s1:#5aa4ea; --s2:#56c088; --s3:#b48ae0; --s4:#e87f9b; --s5:#98a3b5; --s6:#d0b548; --s7:#5cc6c9; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin:0 auto; padding:16px; max-width:1120px; background:var(--bg); color:var(--text); font:15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; overflow-wrap:anywhere; }
h1 { font-size:1.6rem; line-height:1.2; margin:.2em 0; } h2 { font-size:1.25rem; margin:0 0 .5em; } h3 { font-size:1.05rem; margin:1.2em 0 .4em; }
a { color:var(--link); } p { margin:.4em 0 .8em; max-width:80ch; } .muted, small { color:var(--muted); } small { font-size:.85em; }
header p { margin:.2em 0; color:var(--muted); } code, pre, .code { font-family:ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size:.86em; }
nav { display:flex; flex-wrap:wrap; gap:.2em 1em; margin:.8em 0; } section { margin:28px 0; padding-top:16px; border-top:1px solid var(--line); }
footer { margin:32px 0 8px; padding-top:8px; border-top:1px solid var(--line); color:var(--muted); font-size:.85em; }
.tiles { display:grid; grid-template-columns:repeat(auto-fill, minmax(165px, 1fr)); gap:10px; }
.tile { background:var(--panel); border:1px solid var(--line); border-radius:8px; padding:10px 12px; display:flex; flex-direction:column; }
.tile span { color:var(--muted); font-size:.85em; } .tile strong { font-size:1.3em; line-height:1.3; }
.scroll { overflow-x:auto; } table { border-collapse:collapse; width:100%; font-size:.92em; } th, td { text-align:left; padding:4px 10px 4px 0; border-bottom:1px solid var(--line); vertical-align:top; overflow-wrap:normal; }
th { color:var(--muted); font-weight:600; white-space:nowrap; } td.n, th.n { text-align:right; white-space:nowrap; font-variant-numeric:tabular-nums; padding:4px 0 4px 12px; } td.n + td:not(.n), th.n + th:not(.n) { padding-left:14px; }
details { border:1px solid var(--line); border-radius:8px; margin:8px 0; background:var(--panel); } details > summary { cursor:pointer; padding:8px 12px; } details[open] > summary { border-bottom:1px solid var(--line); }
details > div { padding:4px 12px 12px; } td details { border:none; margin:0; background:none; } td details > summary { padding:0; } td details[open] > summary { border:none; } details details { background:var(--bg); }
.chip { display:inline-block; border-radius:9px; padding:0 8px; font-size:.8em; line-height:1.6; border:1px solid currentColor; white-space:nowrap; }
.chip.good { color:var(--good); } .chip.bad { color:var(--bad); } .chip.none { color:var(--muted); }
.key { display:flex; flex-wrap:wrap; gap:4px 16px; font-size:.85em; color:var(--muted); margin:.3em 0 .6em; } .key i { display:inline-block; width:12px; height:12px; border-radius:3px; margin-right:5px; vertical-align:-1px; }
.lane { margin:9px 0; } .lane .name { display:flex; justify-content:space-between; gap:12px; font-size:.88em; } .lane .name span:last-child { color:var(--muted); white-space:nowrap; }
.lane svg { display:block; width:100%; height:26px; background:var(--panel); border-radius:3px; } .axis { display:flex; justify-content:space-between; font-size:.8em; color:var(--muted); font-variant-numeric:tabular-nums; }
.source { overflow-x:auto; max-height:560px; overflow-y:auto; border:1px solid var(--line); border-radius:6px; background:var(--bg); } .t { white-space:nowrap; } .t i { display:inline-block; width:11px; height:11px; border-radius:3px; margin-right:6px; }
.source td:last-child { width:100%; } .source table { font-size:.82em; font-family:ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
.source td { border:0; padding:0 8px; white-space:pre; line-height:1.45; } .source th { position:sticky; top:0; background:var(--panel); padding:2px 8px; z-index:1; } .source td.n, .source th.n { padding:0 8px; } .source td.o { color:var(--muted); }
.warn { border-left:4px solid var(--bad); padding:4px 12px; background:var(--panel); margin:.6em 0; } .formula { color:var(--muted); }
ul.plain { list-style:none; padding:0; margin:.3em 0; } ul.plain > li { padding:5px 0; border-bottom:1px solid var(--line); }
figure { margin:.6em 0 1.2em; } figcaption { font-size:.88em; color:var(--muted); margin-bottom:.2em; }
svg.plot { display:block; max-width:100%; height:auto; } svg.plot.narrow { display:none; }
@media (max-width: 820px) { svg.plot.wide { display:none; } svg.plot.narrow { display:block; } }
@media (max-width: 700px) { body { padding:12px; } }
@media print { details > div { display:block; } }
";

/// A link to something inside closed details opens them.
const SCRIPT: &str = "function open_target(){var t=location.hash&&document.getElementById(decodeURIComponent(location.hash.slice(1)));\
for(var e=t;e;e=e.parentElement)if(e.tagName==='DETAILS')e.open=true;if(t)t.scrollIntoView();}\
addEventListener('toggle',function(e){if(e.target.open)e.target.querySelectorAll('.source').forEach(function(s){var h=s.querySelector('tr.hot');if(h)s.scrollTop=h.offsetTop-s.clientHeight/3;});},true);\
addEventListener('hashchange',open_target);addEventListener('DOMContentLoaded',open_target);\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("<b a='\"'>&\u{1}"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;\u{fffd}");
        let html = page("<x>", "", &[("a".into(), "<h>".into(), String::new())]);
        assert!(!html.contains("<x>") && !html.contains("<h>"));
    }

    #[test]
    fn figures_have_units() {
        assert_eq!([time(1.5), time(12_345.0), time(3e6), time(2e9)], ["1.50 ns", "12.3 µs", "3.00 ms", "2.00 s"]);
        assert_eq!([bytes(12.0), bytes(2048.0), bytes(3.0 * 1_048_576.0)], ["12 B", "2.0 KiB", "3.0 MiB"]);
        assert_eq!(number(1_234_567), "1,234,567");
    }
}
