//! Reals: text forms and parsing (`docs/semantics.md §8.2, §8.5, §28.2`).

use std::fmt;

/// The decimal exponents of numbers that are written without an exponent.
const PLAIN_EXPONENTS: std::ops::Range<i32> = -4..16;
/// Two decimals with at most this many digits never round to the same real.
const SURE_DIGITS: usize = 15;

/// Parses a `real`: digits with an optional sign, fraction and exponent, or `NaN`, `Infinity` or `inf`, with optional white
/// space around. Overflow gives infinity, underflow zero. Hexadecimal digits and separators are `None`.
pub fn parse_real(text: &str) -> Option<f64> {
    let text = text.trim_ascii();
    if is_number(text.as_bytes()) {
        return text.parse().ok();
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        "NaN" | "nan" => (unsigned.len() == text.len()).then_some(f64::NAN),
        "Infinity" | "inf" | "Inf" if text.starts_with('-') => Some(f64::NEG_INFINITY),
        "Infinity" | "inf" | "Inf" => Some(f64::INFINITY),
        _ => None,
    }
}

/// Writes the text of `tostring`: the shortest digits that parse to the value, always with a fraction or an exponent, and
/// `NaN`, `inf`, `-inf`.
///
/// Of several shortest candidates KQL writes the greatest magnitude, not the closest: `0.1 + 0.2` is
/// `0.30000000000000007` (`docs/semantics.md §8.5`). The forms below 1e-4 and from 1e16 on are not
/// measured (`docs/semantics.md §31`).
pub fn write(value: f64, out: &mut impl fmt::Write) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("NaN");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "inf" } else { "-inf" });
    }
    if value.is_sign_negative() {
        out.write_char('-')?;
    }
    let mut shortest = Shortest::of(value.abs());
    shortest.raise(value.abs());
    shortest.write(out)
}

/// Writes the number of a result cell: the shortest and closest digits, a valid JSON number. NaN and the infinities
/// are quoted (`docs/semantics.md §28.2`).
pub fn write_json(value: f64, out: &mut impl fmt::Write) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("\"NaN\"");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        });
    }
    write!(out, "{value:?}")
}

/// The digits `d.ddd` and the exponent of a finite real that is not negative.
struct Shortest {
    digits: [u8; 17],
    count: usize,
    exponent: i32,
}

impl Shortest {
    fn of(value: f64) -> Shortest {
        let mut sink = Sink {
            shortest: Shortest {
                digits: [b'0'; 17],
                count: 0,
                exponent: 0,
            },
            in_exponent: false,
            negative_exponent: false,
        };
        // Writing to the buffer never fails.
        let _ = fmt::Write::write_fmt(&mut sink, format_args!("{value:e}"));
        if sink.negative_exponent {
            sink.shortest.exponent = -sink.shortest.exponent;
        }
        sink.shortest
    }

    fn digits(&self) -> &str {
        let digits = self.digits.get(..self.count).unwrap_or_default();
        std::str::from_utf8(digits).unwrap_or_default()
    }

    /// Increases the digits to the greatest decimal of the same length that parses to `value`.
    fn raise(&mut self, value: f64) {
        if self.count <= SURE_DIGITS && value.is_normal() || value == 0.0 {
            return;
        }
        while let Some(last) = self.digits.get_mut(self.count.saturating_sub(1)) {
            if *last >= b'9' {
                return;
            }
            *last += 1;
            if self.read_back() != Some(value) {
                if let Some(last) = self.digits.get_mut(self.count.saturating_sub(1)) {
                    *last -= 1;
                }
                return;
            }
        }
    }

    fn read_back(&self) -> Option<f64> {
        let mut text = Buffer::default();
        let (first, rest) = self.digits().split_at_checked(1)?;
        fmt::Write::write_fmt(&mut text, format_args!("{first}.{rest}e{}", self.exponent)).ok()?;
        text.as_str().parse().ok()
    }

    fn write(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let digits = self.digits();
        if !PLAIN_EXPONENTS.contains(&self.exponent) {
            let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if self.exponent < 0 { '-' } else { '+' };
            return write!(
                out,
                "{first}{point}{rest}e{sign}{:02}",
                self.exponent.unsigned_abs()
            );
        }
        if self.exponent < 0 {
            out.write_str("0.")?;
            write_zeros(-self.exponent - 1, out)?;
            return out.write_str(digits);
        }
        let whole = self.exponent as usize + 1;
        match digits.split_at_checked(whole) {
            Some((whole, fraction)) if !fraction.is_empty() => write!(out, "{whole}.{fraction}"),
            _ => {
                out.write_str(digits)?;
                write_zeros(whole as i32 - digits.len() as i32, out)?;
                out.write_str(".0")
            }
        }
    }
}

fn write_zeros(count: i32, out: &mut impl fmt::Write) -> fmt::Result {
    (0..count).try_for_each(|_| out.write_char('0'))
}

/// Splits `d.ddde-x` into digits and exponent without an allocation.
struct Sink {
    shortest: Shortest,
    in_exponent: bool,
    negative_exponent: bool,
}

impl fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            match byte {
                b'e' => self.in_exponent = true,
                b'-' => self.negative_exponent = true,
                b'0'..=b'9' if self.in_exponent => {
                    self.shortest.exponent = self.shortest.exponent * 10 + i32::from(byte - b'0');
                }
                b'0'..=b'9' => {
                    if let Some(digit) = self.shortest.digits.get_mut(self.shortest.count) {
                        *digit = byte;
                        self.shortest.count += 1;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A buffer for the longest text of a real, `1.2345678901234567e-308`.
#[derive(Default)]
struct Buffer {
    bytes: [u8; 32],
    len: usize,
}

impl Buffer {
    fn as_str(&self) -> &str {
        std::str::from_utf8(self.bytes.get(..self.len).unwrap_or_default()).unwrap_or_default()
    }
}

impl fmt::Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let place = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Whether `text` is an optional sign, digits with an optional point, and an optional exponent.
pub(crate) fn is_number(text: &[u8]) -> bool {
    let rest = strip_sign(text);
    let (whole, rest) = split_digits(rest);
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(rest) => split_digits(rest),
        None => (0, rest),
    };
    if whole + fraction == 0 {
        return false;
    }
    match rest.split_first() {
        None => true,
        Some((b'e' | b'E', exponent)) => {
            let (count, rest) = split_digits(strip_sign(exponent));
            count > 0 && rest.is_empty()
        }
        Some(_) => false,
    }
}

fn strip_sign(text: &[u8]) -> &[u8] {
    match text.split_first() {
        Some((b'+' | b'-', rest)) => rest,
        _ => text,
    }
}

fn split_digits(text: &[u8]) -> (usize, &[u8]) {
    let count = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (count, text.get(count..).unwrap_or_default())
}
