//! Charts of `render`, drawn with characters.

mod axis;
mod bars;
mod canvas;
mod data;
mod lines;

use super::answer::Answer;
use super::terminal::{Screen, printable};
use data::{Chart, Kind};

/// Whether the query ends with a `render` of something else than a table.
pub(super) fn is_asked(answer: &Answer<'_>) -> bool {
    !matches!(visualization(answer), None | Some("table"))
}

fn visualization<'a>(answer: &'a Answer<'_>) -> Option<&'a str> {
    answer.render.as_ref()?.get("visualization")?.as_str()
}

/// Draws the first result as its `render` says.
///
/// # Errors
/// Why it cannot be drawn, in a sentence.
pub(super) fn draw(answer: &Answer<'_>, screen: Screen) -> Result<String, String> {
    let name = visualization(answer).unwrap_or("table");
    if name == "table" {
        return Err("the query names no chart; `| render timechart` at its end does".to_owned());
    }
    let kind =
        Kind::parse(name).ok_or_else(|| format!("`render {name}` is not drawn on a terminal"))?;
    let table = answer.tables.first().ok_or("the query has no result")?;
    if table.rows.is_empty() {
        return Ok("no rows\n".to_owned());
    }
    let render = answer.render.as_ref().ok_or("the query names no chart")?;
    let chart = Chart::read(kind, table, render)?;
    let body = match kind {
        Kind::Bars | Kind::Pie => bars::draw(&chart, screen),
        Kind::Card => bars::card(&chart),
        Kind::Lines | Kind::Area | Kind::Points => lines::draw(&chart, screen)?,
    };
    let mut out = String::new();
    if let Some(title) = &chart.title {
        out.push_str(&format!("{}\n\n", screen.painted("1", &printable(title))));
    }
    out.push_str(&body);
    for note in &chart.notes {
        out.push_str(&format!("{}\n", screen.dim(note)));
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
