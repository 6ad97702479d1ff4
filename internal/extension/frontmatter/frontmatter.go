// Package frontmatter reads Markdown files with front matter (YAML between two
// lines of dashes): skills, agents, commands, rules. It knows where such files
// are and reads them without following links. The files are untrusted:
// everything is bounded, and nothing in them is run.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The limits of front matter.
const (
	MaxHead  = 16 << 10 // bytes
	MaxDepth = 8        // nesting of lists and maps
	MaxNodes = 1000     // keys, values, lists and maps
)

// Matter is a parsed file: its settings by key, and the text after them.
type Matter struct {
	Body   string
	Faults []string // problems that do not prevent its use

	fields map[string]*yaml.Node
	asked  map[string]bool
}

// Parse parses a file. Without a line of dashes at the beginning, all of it is
// the body. Settings must be plain YAML with strings, numbers, lists and maps:
// aliases, tags, merge keys and duplicate keys are errors.
func Parse(text []byte) (*Matter, error) {
	m := &Matter{fields: map[string]*yaml.Node{}, asked: map[string]bool{}}
	clean, changed := Clean(text)
	if changed {
		m.Faults = append(m.Faults, "the file is not valid UTF-8: invalid bytes are replaced")
	}
	head, body, ok, err := split(clean)
	if err != nil {
		return nil, err
	}
	m.Body = body
	if !ok {
		return m, nil
	}
	top, err := decode(head)
	if err != nil {
		quoted, lines := quote(head)
		again, second := decode(quoted)
		if lines == nil || second != nil {
			return nil, fmt.Errorf("invalid front matter: %w", err)
		}
		top = again
		m.Faults = append(m.Faults, fmt.Sprintf("quote the value of %s: it is not valid YAML", strings.Join(lines, ", ")))
	}
	if top == nil {
		return m, nil
	}
	if err := m.take(top); err != nil {
		return nil, fmt.Errorf("invalid front matter: %w", err)
	}
	return m, nil
}

// Clean converts a file to text: UTF-8 with LF line ends, without a byte order
// mark or NUL bytes. It reports whether anything was replaced.
func Clean(text []byte) (clean string, replaced bool) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	clean = strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
	replaced = clean != string(text)
	return strings.ReplaceAll(clean, "\r\n", "\n"), replaced
}

// split separates the front matter from the body. ok is false without front
// matter.
func split(text string) (head, body string, ok bool, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", text, false, nil
	}
	for at := 0; at < len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:at], strings.TrimPrefix(rest[at+len(line):], "\n"), true, nil
		}
		if at += len(line) + 1; at > MaxHead {
			return "", "", false, fmt.Errorf("the front matter is longer than %d bytes, or its closing --- line is missing", MaxHead)
		}
		if !more {
			break
		}
	}
	return "", "", false, errors.New("the closing --- line of the front matter is missing")
}

// decode parses YAML to nodes, without resolving aliases. nil means that it is
// empty.
func decode(head string) (*yaml.Node, error) {
	d := yaml.NewDecoder(strings.NewReader("\n" + head)) // so that line numbers are those of the file
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // a head without a key is fine
	} else if err != nil {
		return nil, err
	}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	if len(doc.Content) != 1 {
		return nil, nil //nolint:nilnil // comments alone
	}
	return doc.Content[0], nil
}

// take stores the top-level keys and checks everything below them.
func (m *Matter) take(top *yaml.Node) error {
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil
	}
	if top.Kind != yaml.MappingNode {
		return errors.New("it must be a mapping of keys to values")
	}
	nodes := 0
	if err := check(top, 0, &nodes); err != nil {
		return err
	}
	for i := 0; i < len(top.Content); i += 2 {
		m.fields[top.Content[i].Value] = top.Content[i+1]
	}
	return nil
}

// plainTags are the allowed types of values.
var plainTags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!seq", "!!map"}

// check returns an error for anything but plain values, lists and maps.
func check(n *yaml.Node, depth int, nodes *int) error {
	if *nodes++; *nodes > MaxNodes || depth > MaxDepth {
		return fmt.Errorf("line %d: more than %d values, or nested more than %d levels deep", n.Line, MaxNodes, MaxDepth)
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fmt.Errorf("line %d: anchors and aliases are not supported: write the value out", n.Line)
	case !slices.Contains(plainTags, n.ShortTag()):
		return fmt.Errorf("line %d: unsupported type %.40q", n.Line, n.ShortTag())
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || seen[key.Value] {
				return fmt.Errorf("line %d: the key %.40q is a duplicate or not a word", key.Line, key.Value)
			}
			seen[key.Value] = true
		}
	}
	for _, c := range n.Content {
		if err := check(c, depth+1, nodes); err != nil {
			return err
		}
	}
	return nil
}

// quote quotes top-level values with a colon or a hash, which people often
// forget. It returns their keys.
func quote(head string) (string, []string) {
	var keys []string
	var out strings.Builder
	for line := range strings.Lines(head) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		value = strings.TrimSpace(value)
		breaks := strings.Contains(value, ": ") || strings.Contains(value, " #") || strings.HasSuffix(value, ":") || strings.ContainsAny(value[:min(1, len(value))], "@`%")
		if ok && breaks && !strings.ContainsAny(key, " \t\"'#:{}[]") && !strings.ContainsAny(value[:1], "\"'|>[{&*!") {
			keys = append(keys, key)
			line = key + ": '" + strings.ReplaceAll(value, "'", "''") + "'\n"
		}
		out.WriteString(line)
	}
	return out.String(), keys
}
