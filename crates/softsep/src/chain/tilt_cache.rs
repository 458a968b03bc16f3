//! A cache of tilts. Slopes come from finitely many dual vertices and recur, while preparing a tilt may cost far more
//! than a recourse solve (a sum over all rows of a list, or a dynamic program).

use crate::uncertainty::CachedTilt;

/// Largest number of cached tilts, equal to the number of dual vertices that the recourse engine keeps.
const MAX_TILTS: usize = 64;
/// Largest total number of floating-point numbers in the cached tilts: 16 MB per chain.
const MAX_NUMBERS: usize = 1 << 21;

/// Tilts that no chain state holds at the moment, each with the time of its last use.
#[derive(Default)]
pub(super) struct TiltCache {
    tilts: Vec<(u64, CachedTilt)>,
    time: u64,
}

impl TiltCache {
    /// Replaces a tilt that was not prepared for `slope`: by the cached tilt of this slope if there is one, otherwise
    /// by a new tilt or the least recently used one. The replaced tilt goes into the cache.
    pub(super) fn exchange(&mut self, slope: &[f64], tilt: &mut CachedTilt) {
        if tilt.slope == slope {
            return;
        }
        self.time += 1;
        let known = self.tilts.iter().position(|(_, known)| known.slope == slope);
        let size = tilt.slope.len() + tilt.weights.len() + tilt.table.len();
        let slot = match known {
            Some(slot) => slot,
            None if self.tilts.len() < MAX_TILTS && self.tilts.len() * size < MAX_NUMBERS => {
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
    fn a_cached_tilt_is_returned_and_the_least_recently_used_is_evicted() {
        let mut tilt_cache = TiltCache::default();
        let mut tilt = CachedTilt::default();
        for slope in 0..70 {
            let slope = [f64::from(slope)];
            tilt_cache.exchange(&slope, &mut tilt);
            assert_ne!(tilt.slope, slope);
            tilt.slope = slope.to_vec();
            tilt.log_mean = 10.0 * slope[0];
        }
        assert_eq!(tilt_cache.tilts.len(), MAX_TILTS);
        tilt_cache.exchange(&[30.0], &mut tilt);
        assert_eq!((tilt.slope.as_slice(), tilt.log_mean), ([30.0].as_slice(), 300.0));
        tilt_cache.exchange(&[1.0], &mut tilt);
        assert_ne!(tilt.slope, [1.0], "the least recently used tilt was evicted");
    }
}
