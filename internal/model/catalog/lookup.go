package catalog

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// family defines an alias: it stands for the provider's model with the highest version, which is the first
// group of the pattern.
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

// Aliases returns the names of the aliases, sorted.
func Aliases() []string { return slices.Sorted(maps.Keys(aliases)) }

// Lookup returns the model for a name: a ref (provider/name, or provider/id), an alias such as sonnet, or a
// bare name or id that only one provider has, or only one of those that the user has a key for. Models of local providers are returned without checking. The
// error for an unknown name suggests similar ones.
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
		// Never fall back to the same id of another provider: that provider would get the user's code.
		return Model{}, c.unknown(name)
	}
	var found []Model
	for _, m := range c.Models {
		if m.ID == name || m.Ref == m.Provider+"/"+name {
			found = append(found, m)
		}
	}
	if len(found) > 1 {
		found = c.withKey(found)
	}
	switch len(found) {
	case 0:
		return Model{}, c.unknown(name)
	case 1:
		return found[0], nil
	default:
		return Model{}, fault.New(pawl.ErrInvalid, "model %q is served by several providers: use %s", name, orList(refs(found)))
	}
}

// withKey returns the models of providers that the user has a key for, or all if the user has no such key.
func (c *Catalog) withKey(models []Model) []Model {
	var keyed []Model
	for _, m := range models {
		if at := c.provider(m.Provider); at >= 0 && c.HasKey != nil && c.HasKey(c.Providers[at]) {
			keyed = append(keyed, m)
		}
	}
	if len(keyed) == 0 {
		return models
	}
	return keyed
}

// newest returns the model of a family with the highest version.
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

// maxSuggestions bounds the suggestions in an error.
const maxSuggestions = 4

func (c *Catalog) unknown(name string) error {
	err := fault.New(pawl.ErrInvalid, "unknown model %q", name)
	if similar := c.suggest(name); len(similar) > 0 {
		return err.Hint("Did you mean %s?", orList(similar))
	}
	return err.Hint("Run `pawl models` to see all models.")
}

// suggest returns the most similar aliases and refs, best first.
func (c *Catalog) suggest(name string) []string {
	type candidate struct {
		ref  string
		away int
	}
	var list []candidate
	want := normalize(name)
	if len(want) < 3 {
		return nil // everything would be similar
	}
	bound := max(2, len(want)/4)
	for _, alias := range Aliases() {
		if away := suggest.Distance(want, alias); away <= max(1, len(want)/4) {
			list = append(list, candidate{alias, away})
		}
	}
	for _, m := range c.Models {
		ref := normalize(m.Ref)
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
	var similar []string
	for _, c := range list[:min(maxSuggestions, len(list))] {
		similar = append(similar, c.ref)
	}
	return similar
}

// normalize normalizes spellings that people mix up.
func normalize(name string) string {
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
