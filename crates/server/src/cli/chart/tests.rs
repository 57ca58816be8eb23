//! Charts as they appear.

use super::*;

fn screen(colors: bool) -> Screen {
    Screen {
        width: 60,
        height: 16,
        terminal: true,
        colors,
    }
}

fn drawn(reply: &str, colors: bool) -> Result<String, String> {
    draw(&serde_json::from_str(reply).unwrap(), screen(colors))
}

#[test]
fn a_line_over_time_has_both_axes() {
    let points: Vec<String> = (0..24)
        .map(|hour| format!("[\"2026-11-22T{hour:02}:00:00Z\",{}]", hour * 10))
        .collect();
    let reply = format!(
        r#"{{"tables":[{{"columns":[{{"name":"timestamp","type":"datetime"}},{{"name":"count_","type":"long"}}],"rows":[{}]}}],"render":{{"visualization":"timechart","title":"Requests"}}}}"#,
        points.join(",")
    );
    let text = drawn(&reply, false).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.first(), Some(&"Requests"));
    assert!(text.contains("200 ┤"), "{text}");
    assert!(text.contains("  0 ┤⣀"), "{text}");
    assert!(text.contains("12:00"), "{text}");
    assert!(
        text.ends_with("2026-11-22 00:00:00 to 2026-11-22 23:00:00 UTC\n"),
        "{text}"
    );
    let widest = lines.iter().map(|line| line.chars().count()).max();
    assert!(widest <= Some(60), "{text}");
    // The line rises: its first dots are lower than its last.
    let column = |at: usize| {
        lines
            .iter()
            .position(|line| line.chars().nth(at).is_some_and(|c| c > '\u{2800}'))
    };
    assert!(column(8) > column(50), "{text}");
}

const SERIES: &str = r#"{"tables":[{"columns":[{"name":"t","type":"datetime"},{"name":"name","type":"string"},{"name":"n","type":"long"}],
    "rows":[["2026-11-22T00:00:00Z","a",1],["2026-11-22T00:00:00Z","b",5],["2026-11-22T01:00:00Z","a",2],["2026-11-22T01:00:00Z","b",null]]}],
    "render":{"visualization":"timechart"}}"#;

#[test]
fn series_have_symbols_without_colours_and_colours_without_symbols() {
    let text = drawn(SERIES, false).unwrap();
    assert!(text.ends_with("● a  ○ b\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
    let text = drawn(SERIES, true).unwrap();
    assert!(text.contains("\u{1b}[36m●\u{1b}[0m a"), "{text}");
    assert!(text.contains("\u{1b}[33m●\u{1b}[0m b"), "{text}");
}

#[test]
fn arrays_of_make_series_are_drawn() {
    let reply = r#"{"tables":[{"columns":[{"name":"name","type":"string"},{"name":"n","type":"dynamic"},{"name":"timestamp","type":"dynamic"}],
        "rows":[["a","[1,2,null]","[\"2026-11-22T00:00:00.0000000Z\",\"2026-11-22T01:00:00.0000000Z\",\"2026-11-22T02:00:00.0000000Z\"]"]]}],
        "render":{"visualization":"timechart"}}"#;
    let text = drawn(reply, false).unwrap();
    assert!(
        text.contains("2026-11-22 00:00:00 to 2026-11-22 01:00:00 UTC"),
        "{text}"
    );
}

#[test]
fn bars_are_as_long_as_their_values() {
    let reply = r#"{"tables":[{"columns":[{"name":"name","type":"string"},{"name":"n","type":"long"}],"rows":[["GET /",100],["日本",50],["none",0]]}],
        "render":{"visualization":"barchart"}}"#;
    let text = drawn(reply, false).unwrap();
    let bars: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
    let (whole, half) = (
        bars.first().copied().unwrap(),
        bars.get(1).copied().unwrap(),
    );
    assert!(half > 10 && whole.abs_diff(half * 2) <= 1, "{text}");
    assert_eq!(bars.get(2), Some(&0));
    assert!(text.contains("日本  │"), "{text}");
    let text = drawn(&reply.replace("barchart", "piechart"), false).unwrap();
    assert!(text.contains("100 (66.7 %)"), "{text}");
}

#[test]
fn a_stacked_area_adds_its_series() {
    let reply = SERIES.replace("timechart", "stackedareachart");
    let text = drawn(&reply, false).unwrap();
    assert!(
        text.lines()
            .next()
            .is_some_and(|top| top.ends_with("│○○○○○○")),
        "{text}"
    );
    assert!(text.contains("stacked"), "{text}");
}

#[test]
fn what_is_not_drawn_is_told() {
    let reason = |reply: &str| drawn(reply, false).unwrap_err();
    assert!(reason(&SERIES.replace("timechart", "sankey")).contains("`render sankey`"));
    assert!(reason(&SERIES.replace("timechart", "table")).contains("names no chart"));
    assert!(reason(r#"{"tables":[{"columns":[{"name":"a","type":"string"}],"rows":[["x"]]}],"render":{"visualization":"timechart"}}"#).contains("numbers"));
    let empty = r#"{"tables":[{"columns":[],"rows":[]}],"render":{"visualization":"timechart"}}"#;
    assert_eq!(drawn(empty, false).as_deref(), Ok("no rows\n"));
}
