//! The window of accepted times (`D25`).

/// The times that items may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Now, in ticks.
    pub now: i64,
    /// How old an item may be, ticks.
    pub max_age: i64,
    /// How far ahead of now it may be, ticks.
    pub max_ahead: i64,
}

/// An item's time lies outside of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideWindow {
    /// It is older than now, by this number of ticks.
    TooOld(i64),
    /// It is ahead of now, by this number of ticks.
    TooNew(i64),
}

impl Window {
    /// Whether `ticks` lies within the window.
    ///
    /// # Errors
    /// [`OutsideWindow`] says on which side it lies, and how far from now.
    pub fn check(&self, ticks: i64) -> Result<(), OutsideWindow> {
        let age = self.now.saturating_sub(ticks);
        if age > self.max_age {
            return Err(OutsideWindow::TooOld(age));
        }
        if age < -self.max_ahead {
            return Err(OutsideWindow::TooNew(age.saturating_neg()));
        }
        Ok(())
    }
}
