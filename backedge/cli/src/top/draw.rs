//! A [`View`] on a screen. At 80×24: three lines of figures, rings, six functions, five lines of news beside five of the guest's output.

use super::view::{Mood, View};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Sparkline, Table};

/// Rings with a line of their own.
const MOST_RINGS: usize = 3;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, view: &View) {
    let rings = view.rings.len().clamp(1, MOST_RINGS) as u16 + 2;
    let [head, fills, functions, below] =
        Layout::vertical([Constraint::Length(3), Constraint::Length(rings), Constraint::Fill(3), Constraint::Fill(2)]).areas(frame.area());
    figures(frame, head, view);
    draw_rings(frame, fills, view);
    draw_functions(frame, functions, view);
    let [news, output] = Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(below);
    draw_news(frame, news, view);
    draw_output(frame, output, view);
}

fn figures(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let mut title = Line::from(vec![
        Span::from("backedge top ").bold(),
        Span::from(shortened(&view.program, 28)).bold().cyan(),
        Span::from(format!("  {}  ", seconds(view.elapsed.as_secs_f64()))),
    ]);
    let quits = Span::from("   q quits").dim();
    // How it ended may be a trap's long message; the way out is shown whatever it says.
    let room = usize::from(area.width).saturating_sub(title.width() + quits.width());
    title.push_span(match &view.ended {
        None => Span::from("running").green(),
        Some(how) => Span::from(shortened(how, room)).yellow(),
    });
    title.push_span(quits);
    let feedback = if view.feedback == "lwp" { String::new() } else { format!("  feedback {}", view.feedback) };
    let records = Line::from(vec![
        Span::from("records ").dim(),
        Span::from(format!("{} ({}/s)", count(view.records), rate(view.records_per_second))),
        Span::from("  missed ").dim(),
        missed(view.missed),
        Span::from("  monitor ").dim(),
        Span::from(format!("{:.2} % CPU", view.monitor_percent)),
        Span::from("  watching ").dim(),
        Span::from(format!("{:.2} of {} %{feedback}", view.watching_percent, trimmed(view.budget_percent))),
    ]);
    let code = Line::from(vec![
        Span::from("code ").dim(),
        Span::from(format!("{:.0} KiB", view.code_bytes as f64 / 1024.0)),
        Span::from("  versions ").dim(),
        Span::from(count(view.versions as u64)),
        Span::from("  compiling ").dim(),
        Span::from(count(view.waiting as u64)),
        Span::from("  switches ").dim(),
        Span::from(count(view.switches)),
        Span::from("  side exits ").dim(),
        Span::from(count(view.side_exits)),
    ]);
    frame.render_widget(Paragraph::new(vec![title, records, code]), area);
}

fn missed(count_missed: u64) -> Span<'static> {
    let span = Span::from(count(count_missed));
    if count_missed > 0 { span.red() } else { span }
}

fn draw_rings(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let block = Block::bordered().title(" rings: now ").title_top(Line::from(" fullest at each drain, to 100 % ").right_aligned());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let [now, _, history] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(1), Constraint::Fill(1)]).areas(inner);
    let width = usize::from(now.width).saturating_sub(28);
    let mut lines: Vec<Line<'_>> = view
        .rings
        .iter()
        .take(MOST_RINGS)
        .map(|&(id, percent, missed_here)| {
            let filled = ((percent / 100.0 * width as f64).ceil() as usize).min(width);
            let colour = if percent >= 75.0 { Color::Red } else { Color::Green };
            Line::from(vec![
                Span::from(format!("{id:>2} ")).dim(),
                Span::from("█".repeat(filled)).fg(colour),
                Span::from("·".repeat(width - filled)).dim(),
                Span::from(format!(" {percent:>5.1} %  missed {}", count(missed_here))),
            ])
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::from(if view.ended.is_some() { "no ring any more" } else { "no ring yet" }.dim()));
    }
    if view.rings.len() > MOST_RINGS
        && let Some(last) = lines.last_mut()
    {
        last.push_span(Span::from(format!("  +{}", view.rings.len() - MOST_RINGS)).dim());
    }
    frame.render_widget(Paragraph::new(lines), now);
    let shown = &view.fills[view.fills.len().saturating_sub(usize::from(history.width))..];
    frame.render_widget(Sparkline::default().data(shown.iter().copied()).max(1000).style(Style::new().fg(Color::Cyan)), history);
}

fn draw_functions(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let tier = |tier: &'static str| {
        let style = match tier {
            "optimizing" => Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD),
            "baseline" => Style::new().fg(Color::Blue),
            _ => Style::new().add_modifier(Modifier::DIM),
        };
        Cell::from(tier).style(style)
    };
    let rows = view.functions.iter().map(|it| {
        Row::new(vec![
            Cell::from(format!("{:>5.1}", it.percent)),
            Cell::from(format!("{:>5.1}", it.total_percent)),
            tier(it.tier),
            Cell::from(format!("{:>3}", it.versions)),
            Cell::from(shortened(&it.name, usize::from(area.width).saturating_sub(52).max(12))),
            Cell::from(it.plan.clone()).dim(),
        ])
    });
    let widths = [
        Constraint::Length(5),
        Constraint::Length(5),
        Constraint::Length(11),
        Constraint::Length(3),
        Constraint::Fill(1),
        Constraint::Length(22),
    ];
    let header = Row::new(["%CPU", "total", "tier", "ver", "function", "plan in force"]).style(Style::new().add_modifier(Modifier::DIM));
    let block = Block::bordered().title(" hot functions: last 2 s, and since the start ");
    frame.render_widget(Table::new(rows, widths).header(header).block(block), area);
}

fn draw_news(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let width = usize::from(area.width).saturating_sub(11);
    let lines: Vec<Line<'_>> = view
        .news
        .iter()
        .take(usize::from(area.height))
        .map(|(at, text, mood)| {
            let style = match mood {
                Mood::Plain => Style::new(),
                Mood::Good => Style::new().fg(Color::Green),
                Mood::Bad => Style::new().fg(Color::Red),
            };
            Line::from(vec![Span::from(format!("{:>7} ", seconds(at.as_secs_f64()))).dim(), Span::styled(shortened(text, width), style)])
        })
        .collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" plans and trials, newest first ")), area);
}

fn draw_output(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let rows = usize::from(area.height).saturating_sub(2);
    let shown = &view.output[view.output.len().saturating_sub(rows)..];
    let lines: Vec<Line<'_>> = shown.iter().map(|line| Line::from(line.as_str())).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" the program's output ")), area);
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn seconds(value: f64) -> String {
    match value {
        _ if value < 100.0 => format!("{value:.2} s"),
        _ if value < 10_000.0 => format!("{value:.0} s"),
        _ => format!("{:.1} h", value / 3600.0),
    }
}

/// At most six characters.
fn count(value: u64) -> String {
    match value {
        0..100_000 => value.to_string(),
        100_000..100_000_000 => format!("{:.1} M", value as f64 / 1e6),
        _ => format!("{:.1} G", value as f64 / 1e9),
    }
}

fn rate(value: f64) -> String {
    if value < 1e4 { format!("{value:.0}") } else { format!("{:.0} k", value / 1e3) }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::view::FunctionLine;
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::time::Duration;

    fn busy() -> View {
        let function = |name: &str, tier, percent| FunctionLine {
            name: name.into(),
            tier,
            percent,
            total_percent: percent / 2.0,
            versions: 3,
            plan: "inline prefetch".into(),
        };
        View {
            program: "a_program_with_a_long_name_indeed.wasm".into(),
            elapsed: Duration::from_millis(123_456),
            feedback: "lwp",
            records: 123_456_789,
            records_per_second: 54_321.0,
            missed: 12,
            monitor_percent: 0.41,
            watching_percent: 0.73,
            budget_percent: 1.0,
            code_bytes: 1 << 20,
            versions: 412,
            waiting: 2,
            switches: 10,
            side_exits: 3,
            rings: (0..5).map(|ring| (ring, 20.0 * ring as f64, ring)).collect(),
            fills: (0..300).map(|at| at * 3 % 1000).collect(),
            functions: (0..40)
                .map(|at| function(&format!("function_number_{at}::<with a very long name indeed>"), "optimizing", 99.0 - f64::from(at)))
                .collect(),
            news: (0..40)
                .map(|at| (Duration::from_millis(at), format!("trial {at}: faster (0.53 of the time): kept"), Mood::Good))
                .collect(),
            output: (0..100).map(|line| format!("line {line} of what the program prints, which is long")).collect(),
            ended: None,
        }
    }

    fn screen(width: u16, height: u16, view: &View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, view)).unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(row).collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn eighty_by_twenty_four_holds_it_all() {
        let text = screen(80, 24, &busy());
        for part in [
            "backedge top",
            "q quits",
            "0.41 % CPU",
            "0.73 of 1 %",
            "missed",
            "function_number_5",
            "faster (0.53",
            "line 99",
            "side exits 3",
            "80.0",
        ] {
            let shown = part != "80.0";
            assert_eq!(text.contains(part), shown, "{part}\n{text}");
        }
        assert!(text.contains("+2"), "{text}");
    }

    #[test]
    fn a_long_end_leaves_the_way_out() {
        let ended = Some("trap: out of bounds memory access at function_number_5 (wasm offset 0x1234), and more".into());
        let text = screen(80, 24, &View { ended, ..busy() });
        assert!(text.contains("trap: out") && text.contains("q quits"), "{text}");
    }

    #[test]
    fn rings_that_are_gone_are_not_to_come() {
        let none = View { rings: Vec::new(), ..busy() };
        assert!(screen(80, 24, &none).contains("no ring yet"));
        assert!(screen(80, 24, &View { ended: Some("ended".into()), ..none }).contains("no ring any more"));
    }

    #[test]
    fn any_size_and_nothing_to_show_are_drawn() {
        for (width, height) in [(1, 1), (10, 3), (20, 8), (80, 10), (200, 60)] {
            screen(width, height, &busy());
            screen(width, height, &View::default());
        }
    }
}
