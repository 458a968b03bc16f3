//! Tilts that were made before: slopes come from finitely many dual vertices and come again, while making a tilt may
//! cost far more than a recourse solve (a sum over all rows of a list, a dynamic program).

use crate::uncertainty::CachedTilt;

/// Aims kept at most, as many as the recourse engine keeps dual vertices.
const MOST: usize = 64;
/// Numbers kept at most in all of them: 16 MB a chain.
const NUMBERS: usize = 1 << 21;

/// Aims that no place holds at the moment, with the time of their last use.
#[derive(Default)]
pub(super) struct TiltCache {
    tilts: Vec<(u64, CachedTilt)>,
    time: u64,
}

impl TiltCache {
    /// Exchanges a tilt that is not for this slope: for the one that is, if it is here, else for the one that was
    /// longest out of use.
    pub(super) fn exchange(&mut self, slope: &[f64], tilt: &mut CachedTilt) {
        if tilt.slope == slope {
            return;
        }
        self.time += 1;
        let known = self.tilts.iter().position(|(_, known)| known.slope == slope);
        let size = tilt.slope.len() + tilt.weights.len() + tilt.table.len();
        let slot = match known {
            Some(slot) => slot,
            None if self.tilts.len() < MOST && self.tilts.len() * size < NUMBERS => {
                self.tilts.push((0, CachedTilt::default()));
                self.tilts.len() - 1
            }
            None => (0..self.tilts.len()).min_by_key(|&slot| self.tilts[slot].0).unwrap_or(0),
        };
        let (used, cached) = &mut self.tilts[slot];
        *used = self.time;
        std::mem::swap(cached, tilt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_that_was_made_comes_back_and_the_oldest_goes() {
        let mut tilt_cache = TiltCache::default();
        let mut tilt = CachedTilt::default();
        for slope in 0..70 {
            let slope = [f64::from(slope)];
            tilt_cache.exchange(&slope, &mut tilt);
            assert_ne!(tilt.slope, slope);
            tilt.slope = slope.to_vec();
            tilt.log_mean = 10.0 * slope[0];
        }
        assert_eq!(tilt_cache.tilts.len(), MOST);
        tilt_cache.exchange(&[30.0], &mut tilt);
        assert_eq!((tilt.slope.as_slice(), tilt.log_mean), ([30.0].as_slice(), 300.0));
        tilt_cache.exchange(&[1.0], &mut tilt);
        assert_ne!(tilt.slope, [1.0], "the oldest was thrown away");
    }
}
