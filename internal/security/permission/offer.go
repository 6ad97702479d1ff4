package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/protect"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// equal compares rules without their examples.
func (r Rule) equal(o Rule) bool {
	return r.Tool == o.Tool && r.Kind == o.Kind && r.Pattern == o.Pattern && r.Decision == o.Decision
}

func (r Rule) owner() string {
	switch r.Origin {
	case OriginUser:
		return "your"
	case OriginPawl:
		return "built-in"
	default:
		return "project"
	}
}

// offers returns the rules that would allow everything that needs approval, or nil
// if no rules can.
func offers(findings []Finding) []Rule {
	var rules []Rule
	for _, f := range findings {
		if f.Decision != Ask && f.Decision != Review {
			continue
		}
		if f.offer == nil {
			return nil
		}
		if !slices.ContainsFunc(rules, f.offer.equal) {
			rules = append(rules, *f.offer)
		}
	}
	return rules
}

// rule returns a rule that allows the call's tool what the pattern matches, or nil
// if there is no such rule or it must not be offered.
func (j *decider) rule(kind pawl.AccessKind, pattern string) *Rule {
	r := Rule{Tool: j.c.Tool, Kind: kind, Pattern: pattern, Decision: Allow}
	if kindOf[r.Tool] == kind && pattern != "" {
		r.Kind = ""
	}
	if Offerable(r) != nil {
		return nil
	}
	return &r
}

// varied lists commands whose further words may vary in the rule that a prompt offers: they build, test
// or check the project, and their risky options are known. The rule of any other command is for
// exactly its words.
var varied = map[string]map[string]bool{
	"go":          set("test build vet list doc"),
	"cargo":       set("test build check clippy"),
	"npm":         set("test"),
	"pnpm":        set("test"),
	"yarn":        set("test"),
	"git":         set("status diff log show blame add"),
	"pytest":      nil,
	"jest":        nil,
	"eslint":      nil,
	"ruff":        nil,
	"mypy":        nil,
	"tsc":         nil,
	"staticcheck": nil,
}

// offerVaried offers a rule for a command with any further words, or nil. A command outside the
// sandbox is allowed only as it is.
func (j *decider) offerVaried(a pawl.Access, s Segment) *Rule {
	subcommands, ok := varied[s.words[0].text]
	n := 1
	if subcommands != nil {
		n = 2
	}
	if !ok || !j.Sandboxed || a.Kind != pawl.AccessExec || len(s.words) < n || n == 2 && !subcommands[s.words[1].text] {
		return nil
	}
	pattern, err := quoteCommand(s.words[:n])
	if err != nil {
		return nil
	}
	return j.covering(a, pattern+" *", s)
}

// offerCommand offers a rule for the command: for any further words if the command is harmless with
// them, else for exactly its words.
func (j *decider) offerCommand(a pawl.Access, s Segment) *Rule {
	if !s.Literal() {
		return nil
	}
	if r := j.offerVaried(a, s); r != nil {
		return r
	}
	pattern, err := quoteCommand(s.words)
	if err != nil {
		return nil
	}
	return j.covering(a, pattern, s)
}

// covering returns the rule with a pattern if it may be offered and allows the segment, or nil.
func (j *decider) covering(a pawl.Access, pattern string, s Segment) *Rule {
	r := j.rule(a.Kind, pattern)
	if r == nil {
		return nil
	}
	if m, err := r.compile(); err != nil || !m.command.allows(s) {
		return nil
	}
	return r
}

func (j *decider) offerPath(a pawl.Access, at place) *Rule {
	name := at.rel
	if name == "" {
		name = at.abs
	}
	if name == "" || sanitize.FirstStrange(name) != "" || !utf8.ValidString(name) {
		return nil
	}
	r := j.rule(a.Kind, QuotePath(name))
	if r == nil {
		return nil
	}
	if m, err := r.compile(); err != nil || !m.path.allows(at) {
		return nil
	}
	return r
}

// Offerable returns why a rule may not be granted in a permission prompt, or nil.
// Only rules for something definite may: no shell, interpreter or wrapper, no
// program in a file that may change, no protected name, not everything. People who
// want more write it into their configuration.
func Offerable(r Rule) error {
	m, err := r.compile()
	switch {
	case err != nil:
		return err
	case r.Decision != Allow:
		return errors.New("the rule does not allow anything")
	case len(r.Match)+len(r.NotMatch) > 0:
		return errors.New("the rule has examples")
	case !utf8.ValidString(r.Tool+r.Pattern) || sanitize.FirstStrange(r.Tool+r.Pattern) != "":
		return errors.New("the rule has invisible characters")
	}
	switch m.kind {
	case pawl.AccessExec, pawl.AccessEscape:
		return offerableCommand(m.command)
	case pawl.AccessNet:
		if m.host.everyone || m.host.below && !strings.Contains(m.host.name, ".") {
			return errors.New("the rule is for all hosts, or for a whole top-level domain")
		}
	case pawl.AccessMCP:
		if m.tool.print == "" {
			return errors.New("the rule does not name a version of the tool")
		}
	case pawl.AccessRead, pawl.AccessWrite:
		base, _ := doublestar.SplitPattern(m.path.glob)
		if !hasWildcard(m.path.glob) {
			base = m.path.glob
		}
		if base == "." || base == "/" || base == "~" {
			return errors.New("the rule is for the whole workspace, the home directory or the root directory")
		}
		if m.kind == pawl.AccessWrite && protect.Protected(m.path.glob) {
			return errors.New("the rule is for a protected path")
		}
	default:
		if kindOf[r.Tool] != "" {
			return fmt.Errorf("the rule does not say what %s is allowed to do", r.Tool)
		}
	}
	return nil
}

func offerableCommand(p commandPattern) error {
	switch {
	case len(p.words) == 0:
		return errors.New("the rule is for all commands")
	case isPowerful(p.words[0]) && program(p.words[0]) != "sed" || isOneOf(runners, p.words[0]):
		return fmt.Errorf("%s runs any command it is given", path.Base(p.words[0]))
	case changesShell[p.words[0]] || p.words[0] == "[[":
		return fmt.Errorf("%s changes what later commands do", p.words[0])
	case strings.Contains(p.words[0], "/") && !path.IsAbs(p.words[0]):
		return errors.New("the program is a file in the workspace, which may change")
	}
	words := make([]word, len(p.words))
	for i, w := range p.words {
		words[i] = word{raw: w, text: w, known: true}
	}
	if why := riskyOption(words, 1); why != "" {
		return errors.New(why)
	}
	return nil
}

// ParseOffer parses rules that a person wants to grant, as offered or edited.
func ParseOffer(texts []json.RawMessage) ([]Rule, error) {
	var rules []Rule
	for _, text := range texts {
		var r Rule
		if err := strictjson.Decode(text, &r); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "read rule: %w", err)
		}
		if err := Offerable(r); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "%s cannot be allowed permanently: %w", r, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}
