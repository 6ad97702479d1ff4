package catalog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// family is what an alias stands for: the provider's model with the highest
// version, which is the pattern's first group.
type family struct{ provider, pattern string }

var aliases = map[string]family{
	"opus":     {"anthropic", `^claude-opus-(\d+(?:-\d+)?)$`},
	"sonnet":   {"anthropic", `^claude-sonnet-(\d+(?:-\d+)?)$`},
	"haiku":    {"anthropic", `^claude-haiku-(\d+(?:-\d+)?)$`},
	"gpt":      {"openai", `^gpt-(\d+(?:\.\d+)?)(?:-sol)?$`},
	"gpt-mini": {"openai", `^gpt-(\d+(?:\.\d+)?)-(?:mini|luna)$`},
	"codex":    {"openai", `^gpt-(\d+(?:\.\d+)?)-codex$`},
	"gemini":   {"gemini", `^gemini-(\d+(?:\.\d+)?)-pro(?:-preview)?(?:-customtools)?$`},
	"flash":    {"gemini", `^gemini-(\d+(?:\.\d+)?)-flash(?:-preview)?$`},
	"grok":     {"xai", `^grok-(\d+\.\d)$`}, // 4.20 came before 4.3
	"deepseek": {"deepseek", `^deepseek-v(\d+(?:\.\d+)?)-pro$`},
	"glm":      {"zai", `^glm-(\d+(?:\.\d+)?)$`},
	"kimi":     {"moonshot", `^kimi-k(\d+(?:\.\d+)?)$`},
}

// Lookup returns the model that name means: a ref (provider/name, or the
// provider's own id after the provider), an alias such as sonnet, or a bare
// name or id that only one provider has. A model of a local provider's is
// returned though nothing is known of it. The error of an unknown name says
// which ones are near.
func (c *Catalog) Lookup(name string) (Model, error) {
	if at, ok := c.byName[name]; ok {
		return c.Models[at], nil
	}
	if f, ok := aliases[name]; ok {
		if m, ok := c.newest(f); ok {
			return m, nil
		}
	}
	provider, rest, _ := strings.Cut(name, "/")
	if at := c.provider(provider); at >= 0 && rest != "" {
		if c.Providers[at].Local {
			return localModel(c.Providers[at], rest), nil
		}
		// Never another provider's model of that id: it would get the user's code.
		return Model{}, c.unknown(name)
	}
	var found []Model
	for _, m := range c.Models {
		if m.ID == name || m.Ref == m.Provider+"/"+name {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return Model{}, c.unknown(name)
	case 1:
		return found[0], nil
	default:
		return Model{}, fmt.Errorf("model %q is served by several providers: use %s: %w", name, orList(refs(found)), pawl.ErrInvalid)
	}
}

// newest returns the family's model with the highest version.
func (c *Catalog) newest(f family) (Model, bool) {
	pattern := regexp.MustCompile(f.pattern)
	var best Model
	var bestVersion []int
	for _, m := range c.Models {
		if m.Provider != f.provider {
			continue
		}
		_, name, _ := strings.Cut(m.Ref, "/")
		match := pattern.FindStringSubmatch(name)
		if match == nil {
			continue
		}
		if v := version(match[1]); slices.Compare(v, bestVersion) > 0 {
			best, bestVersion = m, v
		}
	}
	return best, bestVersion != nil
}

func version(s string) []int {
	var v []int
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '-' }) {
		n, _ := strconv.Atoi(part) // digits only, by the pattern
		v = append(v, n)
	}
	return v
}

// maxNear bounds the names that an error suggests.
const maxNear = 4

func (c *Catalog) unknown(name string) error {
	hint := "'pawl models' lists them"
	if near := c.near(name); len(near) > 0 {
		hint = "did you mean " + orList(near) + "?"
	}
	return fmt.Errorf("unknown model %q: %s: %w", name, hint, pawl.ErrInvalid)
}

// near returns the refs that look most like name, the nearest first.
func (c *Catalog) near(name string) []string {
	type candidate struct {
		ref  string
		away int
	}
	var list []candidate
	want := plain(name)
	if len(want) < 3 {
		return nil // everything is near
	}
	bound := max(2, len(want)/4)
	for _, m := range c.Models {
		ref := plain(m.Ref)
		_, bare, _ := strings.Cut(ref, "/")
		away := min(suggest.Distance(want, ref), suggest.Distance(want, bare))
		if strings.Contains(ref, want) {
			away = min(away, 1)
		}
		if away <= bound {
			list = append(list, candidate{m.Ref, away})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.away, b.away) })
	var near []string
	for _, c := range list[:min(maxNear, len(list))] {
		near = append(near, c.ref)
	}
	return near
}

// plain makes spellings that people mix up the same.
func plain(name string) string {
	return strings.NewReplacer(".", "-", "_", "-", " ", "-").Replace(strings.ToLower(name))
}

func refs(models []Model) []string {
	list := make([]string, 0, len(models))
	for _, m := range models {
		list = append(list, m.Ref)
	}
	return list
}

func orList(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
