//! The known name that a misspelt one most likely means.

/// The known name closest to a misspelt one, if it is close enough to be meant: ` (did you mean "…"?)`, or nothing.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let length = wrong.chars().count();
    // A name that shares no letter with the unknown one is not offered, however short both are.
    let is_near = |distance: usize| distance <= 1 + length / 4 && distance < length;
    known
        .into_iter()
        .map(|name| (distance(wrong, name), name))
        .filter(|&(distance, _)| is_near(distance))
        .min_by_key(|&(distance, _)| distance)
        .map_or(String::new(), |(_, name)| format!(" (did you mean \"{name}\"?)"))
}

/// Edits (insert, delete, replace, swap of neighbours) between two names, in any case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut this = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(this[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            this.push(best);
        }
        before = std::mem::replace(&mut last, this);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let known = ["demand", "capacity", "g"];
        assert_eq!(nearest("demnad", known), " (did you mean \"demand\"?)");
        assert_eq!(nearest("gg", known), " (did you mean \"g\"?)");
        assert_eq!(nearest("Capacity", known), " (did you mean \"capacity\"?)");
        assert_eq!(nearest("G", known), " (did you mean \"g\"?)");
        for far in ["emergency", "", "2", "b"] {
            assert_eq!(nearest(far, known), "", "{far}");
        }
    }
}
