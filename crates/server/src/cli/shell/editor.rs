//! The line editor: it draws the text, and changes it as keys say.

use std::io::{Stdin, Write};

use anyhow::Context;

use super::complete::{Completer, Completion};
use super::draw::lay;
use super::history::History;
use super::keys::{Key, Keys};
use super::line::Line;
use super::raw::RawMode;
use crate::cli::terminal::{Screen, columns};

/// The prompt of the first line, and that of the others.
const PROMPTS: (&str, &str) = ("kql> ", "...> ");
/// The most candidates of a completion that are listed.
const MOST_CANDIDATES: usize = 120;

/// What was entered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// A text.
    Text(String),
    /// Ctrl-C: the text was given up.
    Cancelled,
    /// Ctrl-D, or the end of the input.
    End,
}

/// The editor of a terminal.
pub(super) struct Editor {
    keys: Keys<Stdin>,
    line: Line,
    /// The row of the cursor below the first one of the text on the screen.
    cursor_row: usize,
    pasting: bool,
    /// How many queries before the present one is shown; zero for none.
    back: usize,
    /// The text that was edited before older ones were shown.
    draft: String,
    /// The text that Ctrl-R looks for.
    search: Option<String>,
}

/// What a key leads to.
enum Next {
    Continue,
    Done(Entered),
}

impl Editor {
    pub(super) fn new() -> Editor {
        Editor {
            keys: Keys::new(std::io::stdin()),
            line: Line::default(),
            cursor_row: 0,
            pasting: false,
            back: 0,
            draft: String::new(),
            search: None,
        }
    }

    /// Lets a text be edited until it is whole, as `is_whole` says of it.
    ///
    /// # Errors
    /// That the terminal cannot be read or written.
    pub(super) fn read(
        &mut self,
        history: &History,
        completer: &dyn Completer,
        is_whole: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Entered> {
        let _raw = RawMode::enter()?;
        self.line = Line::default();
        self.cursor_row = 0;
        (self.back, self.pasting, self.search) = (0, false, None);
        self.draw()?;
        loop {
            let Some(key) = self.keys.next().context("cannot read the terminal")? else {
                self.finish()?;
                return Ok(Entered::End);
            };
            match self.press(key, history, completer, &is_whole)? {
                Next::Continue => self.draw()?,
                Next::Done(entered) => {
                    self.finish()?;
                    return Ok(entered);
                }
            }
        }
    }

    fn press(
        &mut self,
        key: Key,
        history: &History,
        completer: &dyn Completer,
        is_whole: &impl Fn(&str) -> bool,
    ) -> anyhow::Result<Next> {
        if self.search.is_some() && self.press_in_search(key, history) {
            return Ok(Next::Continue);
        }
        match key {
            Key::PasteBegin => self.pasting = true,
            Key::PasteEnd => self.pasting = false,
            Key::Enter if self.pasting => self.line.insert("\n"),
            Key::Tab if self.pasting => self.line.insert("    "),
            Key::NewLine => self.line.insert("\n"),
            Key::Enter if is_whole(&self.line.text()) => {
                let text = self.line.text();
                return Ok(Next::Done(Entered::Text(text)));
            }
            Key::Enter => {
                self.line.end();
                self.line.insert("\n");
            }
            Key::Tab => self.complete(completer)?,
            Key::Ctrl('c') => return Ok(Next::Done(Entered::Cancelled)),
            Key::Ctrl('d') if self.line.is_empty() => return Ok(Next::Done(Entered::End)),
            Key::Ctrl('l') => self.clear()?,
            Key::Ctrl('r') => self.search = Some(String::new()),
            Key::Up | Key::Ctrl('p') => self.older(history),
            Key::Down | Key::Ctrl('n') => self.newer(history),
            other => self.edit(other),
        }
        Ok(Next::Continue)
    }

    /// The keys that change the text or move the cursor in it.
    fn edit(&mut self, key: Key) {
        let line = &mut self.line;
        match key {
            Key::Char(c) => line.insert(c.encode_utf8(&mut [0; 4])),
            Key::Backspace | Key::Ctrl('h') => line.backspace(),
            Key::Delete | Key::Ctrl('d') => line.delete(),
            Key::Left | Key::Ctrl('b') => line.left(),
            Key::Right | Key::Ctrl('f') => line.right(),
            Key::WordLeft => line.word_left(),
            Key::WordRight => line.word_right(),
            Key::Home | Key::Ctrl('a') => line.home(),
            Key::End | Key::Ctrl('e') => line.end(),
            Key::Ctrl('u') => line.delete_to_start(),
            Key::Ctrl('k') => line.delete_to_end(),
            Key::Ctrl('w') => line.delete_word(),
            _ => {}
        }
    }

    /// A key while Ctrl-R looks for a text; false if the key ends the search and means what it always does.
    fn press_in_search(&mut self, key: Key, history: &History) -> bool {
        let Some(text) = &mut self.search else {
            return false;
        };
        let from = match key {
            Key::Char(c) => {
                text.push(c);
                self.back.saturating_sub(1)
            }
            Key::Backspace => {
                text.pop();
                0
            }
            Key::Ctrl('r') => self.back,
            _ => {
                self.search = None;
                return false;
            }
        };
        if let Some((back, found)) = history.search(text, from) {
            self.back = back;
            self.line.replace(found);
        }
        true
    }

    fn older(&mut self, history: &History) {
        if self.line.up() {
            return;
        }
        if let Some(found) = history.back(self.back + 1) {
            if self.back == 0 {
                self.draft = self.line.text();
            }
            self.back += 1;
            self.line.replace(found);
        }
    }

    fn newer(&mut self, history: &History) {
        if self.line.down() || self.back == 0 {
            return;
        }
        self.back -= 1;
        match history.back(self.back) {
            Some(found) if self.back > 0 => self.line.replace(found),
            _ => self.line.replace(&self.draft),
        }
    }

    /// Completes the word before the cursor as far as all candidates agree, or lists them.
    fn complete(&mut self, completer: &dyn Completer) -> anyhow::Result<()> {
        let Completion { typed, candidates } = completer.complete(&self.line.before());
        let Some(common) = common_prefix(&candidates) else {
            return Ok(());
        };
        if candidates.len() == 1 || columns(&common) > columns(&typed) {
            self.line.remove_before(typed.chars().count());
            self.line.insert(&common);
            return Ok(());
        }
        let screen = Screen::stdout();
        let mut text = String::from("\r\n");
        for row in listed(&candidates, screen.width) {
            text.push_str(&row);
            text.push_str("\r\n");
        }
        self.move_to_end()?;
        self.cursor_row = 0;
        write(&text)
    }

    /// Draws the text over the one that was drawn before.
    fn draw(&mut self) -> anyhow::Result<()> {
        let screen = Screen::stdout();
        let search = self
            .search
            .as_ref()
            .map(|text| format!("(search '{text}') "));
        let prompts = (search.as_deref().unwrap_or(PROMPTS.0), PROMPTS.1);
        let text = self.line.text();
        let drawn = lay(&text, self.line.cursor(), prompts, screen.width).within(screen.height);
        let mut out = back_to_first(self.cursor_row);
        out.push_str(&drawn.rows.join("\r\n"));
        let below = drawn.rows.len() - 1 - drawn.cursor.0;
        if below > 0 {
            out.push_str(&format!("\u{1b}[{below}A"));
        }
        out.push('\r');
        if drawn.cursor.1 > 0 {
            out.push_str(&format!("\u{1b}[{}C", drawn.cursor.1));
        }
        self.cursor_row = drawn.cursor.0;
        write(&out)
    }

    /// Moves the cursor to the end of the drawn text.
    fn move_to_end(&mut self) -> anyhow::Result<()> {
        let edited = self.line.clone();
        self.line.replace(&edited.text());
        self.draw()?;
        self.line = edited;
        Ok(())
    }

    fn clear(&mut self) -> anyhow::Result<()> {
        self.cursor_row = 0;
        write("\u{1b}[H\u{1b}[2J")
    }

    /// Leaves the text on the screen and goes to the line below it.
    fn finish(&mut self) -> anyhow::Result<()> {
        self.search = None;
        self.move_to_end()?;
        self.cursor_row = 0;
        write("\r\n")
    }
}

/// To the first row of the drawn text, and clears the screen from there on.
fn back_to_first(cursor_row: usize) -> String {
    let up = if cursor_row > 0 {
        format!("\u{1b}[{cursor_row}A")
    } else {
        String::new()
    };
    format!("{up}\r\u{1b}[J")
}

fn write(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write to the terminal")
}

/// What all candidates begin with; `None` if there are none.
fn common_prefix(candidates: &[String]) -> Option<String> {
    let (first, others) = candidates.split_first()?;
    let mut common: Vec<char> = first.chars().collect();
    for other in others {
        let same = common
            .iter()
            .zip(other.chars())
            .take_while(|(a, b)| **a == *b);
        let length = same.count();
        common.truncate(length);
    }
    Some(common.into_iter().collect())
}

/// Candidates in columns.
fn listed(candidates: &[String], width: usize) -> Vec<String> {
    let shown = candidates.iter().take(MOST_CANDIDATES);
    let widest = shown.clone().map(|text| columns(text)).max().unwrap_or(1) + 2;
    let across = (width / widest).max(1);
    let cells: Vec<String> = shown
        .map(|text| format!("{text}{}", " ".repeat(widest - columns(text))))
        .collect();
    let mut rows: Vec<String> = cells
        .chunks(across)
        .map(|row| row.concat().trim_end().to_owned())
        .collect();
    if candidates.len() > MOST_CANDIDATES {
        rows.push(format!("and {} more", candidates.len() - MOST_CANDIDATES));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn candidates_are_completed_as_far_as_they_agree() {
        assert_eq!(
            common_prefix(&own(&["count", "countif"])).as_deref(),
            Some("count")
        );
        assert_eq!(common_prefix(&own(&["a", "b"])).as_deref(), Some(""));
        assert_eq!(common_prefix(&[]), None);
    }

    #[test]
    fn candidates_are_listed_in_columns() {
        assert_eq!(listed(&own(&["a", "bb", "c"]), 9), ["a   bb", "c"]);
    }
}
