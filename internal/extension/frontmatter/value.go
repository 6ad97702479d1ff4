package frontmatter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fault records a problem with the value of a key.
func (m *Matter) fault(key, format string, args ...any) {
	m.Faults = append(m.Faults, fmt.Sprintf("%s: ", key)+fmt.Sprintf(format, args...))
}

// at returns the value of a key, or nil.
func (m *Matter) at(key string) *yaml.Node {
	m.asked[key] = true
	n := m.fields[key]
	if n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil
	}
	return n
}

// Has reports whether a key has a value.
func (m *Matter) Has(key string) bool { return m.at(key) != nil }

// IsMap reports whether the value of a key is a map.
func (m *Matter) IsMap(key string) bool {
	n := m.at(key)
	return n != nil && n.Kind == yaml.MappingNode
}

// Text returns the value of a key as it is spelled, or "". A list or a map is
// a fault.
func (m *Matter) Text(key string) string {
	n := m.at(key)
	switch {
	case n == nil:
		return ""
	case n.Kind != yaml.ScalarNode:
		m.fault(key, "must be text")
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// Words returns a list of words: a YAML list, or a text separated by commas or
// whitespace. Text in parentheses belongs to its word: Bash(git log:*).
func (m *Matter) Words(key string) []string {
	n := m.at(key)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode:
		return splitWords(n.Value)
	case n.Kind != yaml.SequenceNode:
		m.fault(key, "must be a list, or words separated by commas")
		return nil
	}
	words := []string{}
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			m.fault(key, "line %d must be a word", c.Line)
			continue
		}
		if word := strings.TrimSpace(c.Value); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// splitWords splits at commas and whitespace outside parentheses.
func splitWords(text string) []string {
	words, depth, begin := []string{}, 0, 0
	for i, r := range text + " " {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth = max(0, depth-1)
		case i == len(text) || depth == 0 && strings.ContainsRune(", \t\n", r):
			if i > begin {
				words = append(words, text[begin:i])
			}
			begin = i + 1
		}
	}
	return words
}

// Pairs returns a map of texts. Other values in it are faults.
func (m *Matter) Pairs(key string) map[string]string {
	n := m.at(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		m.fault(key, "must be a mapping of keys to values")
		return nil
	}
	pairs := map[string]string{}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i+1].Kind != yaml.ScalarNode {
			m.fault(key, "%.40q must be text", n.Content[i].Value)
			continue
		}
		pairs[n.Content[i].Value] = n.Content[i+1].Value
	}
	return pairs
}

// Bool returns the value of a key if it is true or false, otherwise missing.
func (m *Matter) Bool(key string, missing bool) bool {
	switch text := m.Text(key); text {
	case "":
		return missing
	case "true", "false":
		return text == "true"
	default:
		m.fault(key, "must be true or false")
		return missing
	}
}

// Number returns a number between low and high, or nil. A value that is not
// one is a fault.
func (m *Matter) Number(key string, low, high float64) *float64 {
	text := m.Text(key)
	if text == "" {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= low && f <= high) { // also false for NaN
		m.fault(key, "must be a number from %v to %v", low, high)
		return nil
	}
	return &f
}

// Unknown returns the keys that were not read, in order.
func (m *Matter) Unknown() []string {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(m.fields)) {
		if !m.asked[key] {
			names = append(names, key)
		}
	}
	return names
}

// Table returns a map whose values are texts or maps of texts; a text is
// stored with the key "". Other values in it are faults.
func (m *Matter) Table(key string) map[string]map[string]string {
	n := m.at(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		m.fault(key, "must be a mapping of keys to values")
		return nil
	}
	table := map[string]map[string]string{}
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i].Value, n.Content[i+1]
		row := map[string]string{}
		table[name] = row
		switch value.Kind {
		case yaml.ScalarNode:
			row[""] = value.Value
		case yaml.MappingNode:
			for j := 0; j < len(value.Content); j += 2 {
				if value.Content[j+1].Kind != yaml.ScalarNode {
					m.fault(key, "%.40q must be text", value.Content[j].Value)
					continue
				}
				row[value.Content[j].Value] = value.Content[j+1].Value
			}
		default:
			m.fault(key, "%.40q must be text, or a mapping of keys to text", name)
		}
	}
	return table
}
