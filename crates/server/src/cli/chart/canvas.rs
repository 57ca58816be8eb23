//! A canvas of characters: braille patterns with two by four dots each, or a symbol for each series.

use super::super::terminal::Screen;

/// Attributes of the colours of series (ECMA-48 §8.3.117).
const COLORS: [&str; 8] = ["36", "33", "35", "32", "34", "31", "96", "93"];
/// The most series of a chart: one for each colour and symbol.
pub(super) const MOST_SERIES: usize = COLORS.len();
/// The symbols of series where there are no colours.
const SYMBOLS: [char; 8] = ['●', '○', '■', '□', '▲', '△', '◆', '◇'];
/// The bits of the dots of a braille pattern, by row and column (Unicode Standard, "Braille Patterns").
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// The identity of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Dots of braille patterns, coloured if there are several series.
    Braille,
    /// A symbol for each series.
    Symbols,
}

/// A cell: its dots, and the series that was drawn last.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    dots: u32,
    series: usize,
}

/// A canvas.
#[derive(Debug)]
pub(super) struct Canvas {
    style: Style,
    width: usize,
    height: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    /// An empty canvas of this number of characters.
    pub(super) fn new(width: usize, height: usize, style: Style) -> Canvas {
        Canvas {
            style,
            width,
            height,
            cells: vec![Cell::default(); width * height],
        }
    }

    /// The dots in a row.
    pub(super) fn dots_across(&self) -> usize {
        match self.style {
            Style::Braille => self.width * 2,
            Style::Symbols => self.width,
        }
    }

    /// The dots in a column.
    pub(super) fn dots_down(&self) -> usize {
        match self.style {
            Style::Braille => self.height * 4,
            Style::Symbols => self.height,
        }
    }

    /// Sets a dot of a series, counted from the upper left.
    pub(super) fn set(&mut self, x: usize, y: usize, series: usize) {
        let (across, down) = match self.style {
            Style::Braille => (2, 4),
            Style::Symbols => (1, 1),
        };
        if x >= self.dots_across() {
            return;
        }
        let bit = DOTS.get(y % down).and_then(|row| row.get(x % across));
        if let (Some(bit), Some(cell)) =
            (bit, self.cells.get_mut(y / down * self.width + x / across))
        {
            cell.dots |= bit;
            cell.series = series;
        }
    }

    /// Sets the dots of a line (Bresenham's algorithm).
    pub(super) fn line(&mut self, from: (usize, usize), to: (usize, usize), series: usize) {
        let signed = |point: (usize, usize)| (point.0 as i64, point.1 as i64);
        let ((mut x, mut y), (end_x, end_y)) = (signed(from), signed(to));
        let (dx, dy) = ((end_x - x).abs(), -(end_y - y).abs());
        let (step_x, step_y) = ((end_x - x).signum(), (end_y - y).signum());
        let mut error = dx + dy;
        loop {
            if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) {
                self.set(x, y, series);
            }
            if (x, y) == (end_x, end_y) {
                return;
            }
            let doubled = 2 * error;
            if doubled >= dy {
                error += dy;
                x += step_x;
            }
            if doubled <= dx {
                error += dx;
                y += step_y;
            }
        }
    }

    /// The characters of a row, coloured where the screen has colours and `colored`.
    pub(super) fn row(&self, row: usize, screen: Screen, colored: bool) -> String {
        let from = row * self.width;
        let cells = self.cells.get(from..from + self.width);
        let cells = cells.unwrap_or_default();
        let same = |a: &Cell, b: &Cell| (a.dots == 0, a.series) == (b.dots == 0, b.series);
        let runs = cells.chunk_by(same).map(|run| {
            let text: String = run.iter().map(|cell| self.shown(*cell)).collect();
            match run.first() {
                Some(cell) if colored && cell.dots > 0 => screen.painted(color(cell.series), &text),
                _ => text,
            }
        });
        runs.collect()
    }

    /// The character of a cell.
    fn shown(&self, cell: Cell) -> char {
        match self.style {
            _ if cell.dots == 0 => ' ',
            Style::Braille => char::from_u32(0x2800 + cell.dots).unwrap_or(' '),
            Style::Symbols => symbol(cell.series),
        }
    }
}

/// The symbol of a series.
pub(super) fn symbol(series: usize) -> char {
    SYMBOLS.get(series % SYMBOLS.len()).copied().unwrap_or('●')
}

/// The attributes of the colour of a series.
pub(super) fn color(series: usize) -> &'static str {
    COLORS.get(series % COLORS.len()).copied().unwrap_or("0")
}
