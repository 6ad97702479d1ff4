package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// Rule allows, asks for or denies what its tool, kind and pattern match.
//
// The kind determines the syntax of the pattern. Paths are globs on the cleaned
// path: relative to the workspace, absolute or from ~. Commands are words, with *
// for any further words, and are compared with each segment of a command line.
// Hosts are a name, *.domain or *. Tools of MCP servers are server/tool or
// server/*; a grant from a permission prompt is for the tool as it was then.
// Without a pattern, a rule that asks or denies matches all accesses of its kind,
// or all calls of its tool; one that allows matches calls without accesses.
type Rule struct {
	Tool     string          `json:"tool,omitempty"`
	Kind     pawl.AccessKind `json:"kind,omitempty"` // may be left out where the tool tells it
	Pattern  string          `json:"pattern,omitempty"`
	Decision Decision        `json:"decision"`
	Match    []string        `json:"match,omitempty"`     // examples that it must match
	NotMatch []string        `json:"not_match,omitempty"` // and such that it must not
	Origin   Origin          `json:"-"`
}

// Origin tells where a rule comes from. Rules of the project, or of unknown origin,
// may only tighten permissions.
type Origin string

// The origins.
const (
	OriginUser    Origin = "user"
	OriginProject Origin = "project"
	OriginPawl    Origin = "pawl" // built in; like the project's, it may only tighten
)

// maxRules bounds the rules of one origin.
const maxRules = 1000

// kindOf maps a tool to the kind of pattern in its rules.
var kindOf = map[string]pawl.AccessKind{
	"bash": pawl.AccessExec,
	"read": pawl.AccessRead, "list": pawl.AccessRead, "glob": pawl.AccessRead, "grep": pawl.AccessRead, "diagnostics": pawl.AccessRead,
	"write": pawl.AccessWrite, "edit": pawl.AccessWrite, "apply_patch": pawl.AccessWrite,
	"webfetch": pawl.AccessNet, "websearch": pawl.AccessNet, "codesearch": pawl.AccessNet,
}

// ParseRules parses a JSON array of rules, strictly, and checks their examples.
// Empty text means no rules.
func ParseRules(text json.RawMessage, origin Origin) ([]Rule, error) {
	var rules []Rule
	if len(text) == 0 {
		return nil, nil
	}
	if err := strictjson.Decode(text, &rules); err != nil {
		return nil, fault.New(pawl.ErrInvalid, "read rules: %w", err)
	}
	if len(rules) > maxRules {
		return nil, fault.New(pawl.ErrInvalid, "read rules: too many (%d, the limit is %d)", len(rules), maxRules)
	}
	for i := range rules {
		rules[i].Origin = origin
		if err := rules[i].Check(); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "rule %d, %s: %w", i+1, rules[i], err)
		}
	}
	return rules, nil
}

// String returns the rule on one line, sanitized.
func (r Rule) String() string {
	text := string(r.Decision)
	for _, s := range []string{r.Tool, string(r.Kind)} {
		if s != "" {
			text += " " + s
		}
	}
	if r.Pattern != "" {
		text += fmt.Sprintf(" %q", r.Pattern)
	}
	return sanitize.Line(text)
}

// Check returns an error if the rule, or one of its examples, is wrong.
func (r Rule) Check() error {
	m, err := r.compile()
	if err != nil {
		return err
	}
	for _, example := range r.Match {
		if !m.example(example) {
			return fmt.Errorf("the pattern does not match its example %q", example)
		}
	}
	for _, example := range r.NotMatch {
		if m.example(example) {
			return fmt.Errorf("the pattern matches %q, which its examples exclude", example)
		}
	}
	return nil
}

// matcher is a compiled rule.
type matcher struct {
	rule    Rule
	kind    pawl.AccessKind // of the pattern; "" without one
	any     bool            // it has no pattern
	command commandPattern
	path    pathPattern
	host    hostPattern
	tool    toolPattern
}

func (r Rule) compile() (matcher, error) {
	m := matcher{rule: r, kind: r.Kind, any: r.Pattern == ""}
	if m.kind == "" && !m.any {
		if m.kind = kindOf[r.Tool]; m.kind == "" {
			return m, fmt.Errorf("kind is missing: it says what pattern %q is for", r.Pattern)
		}
	}
	switch r.Decision {
	case Allow, Ask, Deny:
	default:
		return m, fmt.Errorf("unknown decision %q: use allow, ask or deny", r.Decision)
	}
	switch {
	case strings.HasPrefix(r.Tool, "mcp__") || r.Tool == "mcp_call":
		return m, errors.New(`tools of MCP servers can be called in other ways too: use kind mcp with a pattern such as "server/tool" or "server/*"`)
	case r.Tool == "" && r.Kind == "":
		return m, errors.New("tool or kind is missing")
	case m.any && r.Decision == Allow && r.Kind != "":
		return m, errors.New("pattern is missing: an allow rule must say what it allows")
	case m.any && len(r.Match)+len(r.NotMatch) > 0:
		return m, errors.New("examples need a pattern")
	}
	var err error
	switch m.kind {
	case pawl.AccessExec, pawl.AccessEscape:
		if !m.any {
			m.command, err = parseCommand(r.Pattern)
		}
	case pawl.AccessRead, pawl.AccessWrite:
		if !m.any {
			m.path, err = parsePath(r.Pattern)
		}
	case pawl.AccessNet:
		if !m.any {
			m.host, err = parseHostPattern(r.Pattern)
		}
	case pawl.AccessMCP:
		if !m.any {
			m.tool, err = parseToolPattern(r.Pattern)
		}
	case "":
	default:
		return m, fmt.Errorf("unknown kind %q: use read, write, exec, escape, net or mcp", m.kind)
	}
	if err != nil {
		return m, fmt.Errorf("pattern %q: %w", r.Pattern, err)
	}
	return m, nil
}

// example reports whether the rule matches an example: any part of it for deny and
// ask, all of it for allow.
func (m matcher) example(text string) bool {
	switch m.kind {
	case pawl.AccessExec, pawl.AccessEscape:
		s, err := parse(text)
		if err != nil {
			return false
		}
		if m.rule.Decision != Allow {
			r := s.runs()
			for i := range s.segments {
				if m.commandLikeness(r, i) == alike {
					return true
				}
			}
			return false
		}
		for _, seg := range s.segments {
			if !m.command.allows(seg) {
				return false
			}
		}
		return len(s.segments) > 0
	case pawl.AccessNet:
		h, err := parseHost(text)
		return err == nil && m.hostMatches(h)
	case pawl.AccessMCP:
		t, err := parseTool(text)
		return err == nil && m.tool.covers(t)
	default:
		at, err := Policy{}.place(text)
		return err == nil && m.pathMatches(at)
	}
}

// commandLikeness returns the greatest likeness over the commands that a segment
// may run.
func (m matcher) commandLikeness(r *runs, segment int) likeness {
	best := unlike
	if r.vague[segment] {
		best = maybe
	}
	for _, run := range r.of[segment] {
		best = max(best, m.command.resembles(run.words))
	}
	return best
}

func (m matcher) pathMatches(at place) bool {
	if m.rule.Decision == Allow {
		return m.path.allows(at)
	}
	return m.path.covers(at, m.kind == pawl.AccessWrite)
}

func (m matcher) hostMatches(h host) bool {
	if m.rule.Decision == Allow {
		return m.host.allows(h)
	}
	return m.host.covers(h)
}
