//! Escaping of text from problem files, which is untrusted input.

use crate::definition::one_line;

/// Escapes text for the content of an element or a quoted attribute.
pub fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for character in one_line(raw).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Escapes a name within other text, isolated from the writing direction of that text.
pub(super) fn name(raw: &str) -> String {
    format!("<bdi>{}</bdi>", text(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_markup_characters_are_escaped() {
        assert_eq!(
            text("<script>alert(\"x\" & 'y')</script>"),
            "&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)&lt;/script&gt;"
        );
        assert_eq!(text("a\nb\u{0}"), "a\\nb\\u{0}");
        assert_eq!(name("ξ & Söhne"), "<bdi>ξ &amp; Söhne</bdi>");
    }
}
