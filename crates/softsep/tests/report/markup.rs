//! A strict parser of markup: every element must be closed and every attribute quoted, and every bare `<`, `>` or `&`
//! is a fault. Browsers repair such faults, each in its own way.

/// An element and its content.
#[derive(Debug, Default)]
pub(crate) struct Element {
    tag: String,
    attributes: Vec<(String, String)>,
    content: Vec<Node>,
}

#[derive(Debug)]
enum Node {
    Text(String),
    Element(Element),
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The elements right below.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Element> {
        self.content.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    fn everything<'e>(&'e self, found: &mut Vec<&'e Element>) {
        found.push(self);
        self.children().for_each(|child| child.everything(found));
    }

    fn below(&self) -> Vec<&Element> {
        let mut found = Vec::new();
        self.everything(&mut found);
        found
    }

    /// All elements of a kind, in order.
    pub(crate) fn all(&self, tag: &str) -> Vec<&Element> {
        self.below().into_iter().filter(|element| element.tag == tag).collect()
    }

    /// The first element with this attribute.
    pub(crate) fn find(&self, name: &str, value: &str) -> Option<&Element> {
        self.below().into_iter().find(|element| element.attribute(name) == Some(value))
    }

    /// The first element that has an attribute of this name.
    pub(crate) fn find_any(&self, name: &str) -> Option<&Element> {
        self.below().into_iter().find(|element| element.attribute(name).is_some())
    }

    /// All values of an attribute.
    pub(crate) fn attributes(&self, name: &str) -> Vec<&str> {
        self.below().into_iter().filter_map(|element| element.attribute(name)).collect()
    }

    /// The text in it, as a reader sees it.
    pub(crate) fn text(&self) -> String {
        let parts = self.content.iter().map(|node| match node {
            Node::Text(text) => text.clone(),
            Node::Element(element) => element.text(),
        });
        parts.collect::<String>().trim().to_owned()
    }
}

/// The page as a tree; an error names the fault and its position.
pub(crate) fn parse(page: &str) -> Result<Element, String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").ok_or("it does not begin as HTML does")?;
    let mut open = vec![Element::default()];
    while !rest.is_empty() {
        let here: String = rest.chars().take(60).collect();
        let fault = |what: &str| format!("{what} at {here:?}");
        if let Some(after) = rest.strip_prefix("</") {
            let (tag, after) = after.split_once('>').ok_or_else(|| fault("a tag without end"))?;
            let closed = open
                .pop()
                .filter(|closed| closed.tag == tag)
                .ok_or_else(|| fault("a closing tag that closes nothing"))?;
            open.last_mut().ok_or_else(|| fault("too much is closed"))?.content.push(Node::Element(closed));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('<') {
            let (element, is_closed, after) = tag(after).map_err(|what| fault(&what))?;
            rest = after;
            if is_closed {
                open.last_mut().ok_or_else(|| fault("no place"))?.content.push(Node::Element(element));
            } else if element.tag == "style" {
                // Its content is no markup, and ends at the closing tag.
                let end = rest.find("</style>").ok_or_else(|| fault("a style without end"))?;
                open.push(Element { content: vec![Node::Text(rest[..end].to_owned())], ..element });
                rest = &rest[end..];
            } else {
                open.push(element);
            }
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            let text = plain(&rest[..end]).map_err(|what| fault(&what))?;
            open.last_mut().ok_or_else(|| fault("no place"))?.content.push(Node::Text(text));
            rest = &rest[end..];
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(page), true) => Ok(page),
        (last, _) => Err(format!("{last:?} is not closed")),
    }
}

/// Parses an opening tag. Returns the element, whether it closes itself, and the text after the tag.
fn tag(text: &str) -> Result<(Element, bool, &str), String> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '-';
    let end = text.find(|character| !is_name(character)).ok_or("a tag without end")?;
    let mut element = Element { tag: text[..end].to_owned(), ..Element::default() };
    if element.tag.is_empty() {
        return Err("a bare <".into());
    }
    let mut rest = &text[end..];
    loop {
        if let Some(after) = rest.strip_prefix("/>") {
            return Ok((element, true, after));
        }
        if let Some(after) = rest.strip_prefix('>') {
            return Ok((element, false, after));
        }
        let after = rest.strip_prefix(' ').ok_or("an attribute that is not parted by one blank")?;
        let (name, after) = after.split_once("=\"").ok_or("an attribute without a quoted value")?;
        let (value, after) = after.split_once('"').ok_or("a value without end")?;
        if name.is_empty()
            || !name.chars().all(|character| is_name(character) || character == ':')
            || element.attribute(name).is_some()
        {
            return Err(format!("the attribute {name:?}"));
        }
        element.attributes.push((name.to_owned(), plain(value)?));
        rest = after;
    }
}

/// Text with its references resolved.
fn plain(text: &str) -> Result<String, String> {
    if text.contains(['<', '>']) {
        return Err("a bare < or >".into());
    }
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, after) = part.split_once(';').ok_or("a bare &")?;
        plain.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => return Err(format!("the reference &{other};")),
        });
        plain.push_str(after);
    }
    Ok(plain)
}

#[test]
fn faults_are_found() {
    let page = |body: &str| parse(&format!("<!DOCTYPE html>\n<html>{body}</html>"));
    assert_eq!(page("<p class=\"a b\">1 &lt; <b>2</b><br/></p>").unwrap().all("p")[0].text(), "1 < 2");
    for fault in [
        "<p>",
        "</p>",
        "<p><b></p></b>",
        "a & b",
        "a > b",
        "a < b",
        "<p class=x></p>",
        "<p a=\"1\" a=\"2\"></p>",
        "&nbsp;",
        "<p a=\"<\"></p>",
    ] {
        assert!(page(fault).is_err(), "{fault} passes");
    }
    assert!(parse("<p></p>").is_err());
}
