//! Durations: their text form and the bucket that each falls into.

/// `[-][d.]hh:mm:ss[.f…]` in milliseconds.
pub fn clock_milliseconds(text: &str) -> Option<f64> {
    let (sign, text) = text
        .strip_prefix('-')
        .map_or((1.0, text), |rest| (-1.0, rest));
    let mut parts = text.split(':');
    let (first, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (days, hours) = first.split_once('.').unwrap_or(("0", first));
    let whole = |part: &str| part.parse::<u32>().ok().map(f64::from);
    let seconds: f64 = seconds
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value >= 0.0)?;
    let minutes = (whole(days)? * 24.0 + whole(hours)?) * 60.0 + whole(minutes)?;
    // Seconds are counted in ticks first, so that 0.018 s is 18 ms and not 17.999…
    Some(sign * (minutes * 60_000.0 + (seconds * 10_000_000.0).round() / 10_000.0))
}

/// The `performanceBucket` of a duration in milliseconds.
pub fn bucket(milliseconds: f64) -> &'static str {
    const BUCKETS: [(f64, &str); 10] = [
        (250.0, "<250ms"),
        (500.0, "250ms-500ms"),
        (1_000.0, "500ms-1sec"),
        (3_000.0, "1sec-3sec"),
        (7_000.0, "3sec-7sec"),
        (15_000.0, "7sec-15sec"),
        (30_000.0, "15sec-30sec"),
        (60_000.0, "30sec-1min"),
        (120_000.0, "1min-2min"),
        (300_000.0, "2min-5min"),
    ];
    BUCKETS
        .iter()
        .find(|(limit, _)| milliseconds < *limit)
        .map_or(">=5min", |(_, name)| name)
}
