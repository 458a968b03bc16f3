//! Tilts that were made before: slopes come from finitely many dual vertices and come again, while making a tilt may cost far more than a
//! recourse solve (a sum over all rows of a list, a dynamic program).

use crate::uncertainty::Aim;

/// Aims kept at most, as many as the recourse engine keeps dual vertices.
const MOST: usize = 64;
/// Numbers kept at most in all of them: 16 MB a chain.
const NUMBERS: usize = 1 << 21;

/// Aims that no place holds at the moment, with the time of their last use.
#[derive(Default)]
pub(super) struct Shelf {
    aims: Vec<(u64, Aim)>,
    time: u64,
}

impl Shelf {
    /// Exchanges an aim that is not for this slope: for the one that is, if it is here, else for the one that was longest out of use.
    pub(super) fn exchange(&mut self, slope: &[f64], aim: &mut Aim) {
        if aim.slope == slope {
            return;
        }
        self.time += 1;
        let known = self.aims.iter().position(|(_, known)| known.slope == slope);
        let size = aim.slope.len() + aim.weights.len() + aim.table.len();
        let slot = match known {
            Some(slot) => slot,
            None if self.aims.len() < MOST && self.aims.len() * size < NUMBERS => {
                self.aims.push((0, Aim::default()));
                self.aims.len() - 1
            }
            None => (0..self.aims.len()).min_by_key(|&slot| self.aims[slot].0).unwrap_or(0),
        };
        let (used, shelved) = &mut self.aims[slot];
        *used = self.time;
        std::mem::swap(shelved, aim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_that_was_made_comes_back_and_the_oldest_goes() {
        let mut shelf = Shelf::default();
        let mut aim = Aim::default();
        for slope in 0..70 {
            let slope = [f64::from(slope)];
            shelf.exchange(&slope, &mut aim);
            assert_ne!(aim.slope, slope);
            aim.slope = slope.to_vec();
            aim.log_mean = 10.0 * slope[0];
        }
        assert_eq!(shelf.aims.len(), MOST);
        shelf.exchange(&[30.0], &mut aim);
        assert_eq!((aim.slope.as_slice(), aim.log_mean), ([30.0].as_slice(), 300.0));
        shelf.exchange(&[1.0], &mut aim);
        assert_ne!(aim.slope, [1.0], "the oldest was thrown away");
    }
}
