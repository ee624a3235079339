//! What may be said of a set of times. Pure functions of numbers and a seed: the same input gives the same answer on every machine.
//!
//! Reading order: [`changepoints`] and [`steady`] turn the calls of one process into one figure, [`bootstrap`] turns the figures of many
//! processes into a median with an interval, [`ranks`] says whether two sets differ.

pub mod bootstrap;
pub mod changepoints;
pub mod random;
pub mod ranks;
pub mod steady;

/// The median; the mean of the two middle ones of an even count; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    median_of(&mut sorted)
}

/// As [`median`], but puts `values` in another order.
pub fn median_of(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let (count, middle) = (values.len(), values.len() / 2);
    let (below, high, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let high = *high;
    if count % 2 == 1 {
        return high;
    }
    let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }
}
