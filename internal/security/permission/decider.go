package permission

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/protect"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// decider collects the findings on one call.
type decider struct {
	Policy
	c        Call
	refusing []matcher // that ask or deny
	allowing []matcher // the user's
	grants   []matcher
	ignored  []matcher // the project's that allow
	findings []Finding
	matched  []Rule // of ignored
}

func newDecider(p Policy, c Call) *decider {
	j := &decider{Policy: p, c: c}
	for _, r := range p.Rules {
		m, err := r.compile()
		if err != nil && r.Decision != Allow { // a rule that cannot be read is about everything
			m = matcher{rule: r, any: true}
		}
		switch {
		case r.Tool != "" && r.Tool != c.Tool:
		case r.Decision != Allow:
			j.refusing = append(j.refusing, m)
		case err != nil:
		case r.Origin == OriginUser:
			j.allowing = append(j.allowing, m)
		default:
			j.ignored = append(j.ignored, m)
		}
	}
	for _, g := range p.Grants {
		if m, err := g.Rule.compile(); err == nil && g.appliesTo(p) && g.check() == nil && (g.Rule.Tool == "" || g.Rule.Tool == c.Tool) {
			j.grants = append(j.grants, m)
		}
	}
	return j
}

// access decides on one access.
func (j *decider) access(a pawl.Access) {
	switch a.Kind {
	case pawl.AccessRead, pawl.AccessWrite:
		j.path(a)
	case pawl.AccessExec, pawl.AccessEscape:
		j.command(a)
	case pawl.AccessNet:
		j.net(a)
	case pawl.AccessMCP:
		j.mcp(a)
	case pawl.AccessSkill:
		j.skill(a)
	default:
		j.find(Finding{Access: a}, j.Mode.closed(fmt.Sprintf("unknown kind of access %q", a.Kind)), matching{})
	}
}

func (j *decider) path(a pawl.Access) {
	f := Finding{Access: a}
	at, err := j.place(a.Target)
	if err != nil {
		j.find(f, j.Mode.closed(err.Error()), matching{})
		return
	}
	f.Path = at.shown(a.Target)
	c := classRead
	if a.Kind == pawl.AccessWrite {
		c = classEdit
	}
	// Names above a project directory do not count: it may be below a protected name.
	protected := a.Kind == pawl.AccessWrite && (protect.Protected(cmp.Or(at.inside(), f.Path)) || !path.IsAbs(a.Target) && protect.Protected(a.Target))
	if at.inside() == "" || protected {
		c = classLeave
	}
	s := j.Mode.decide(c)
	if protected && j.Mode != ModeYolo {
		s.firm = true
		s.why = "this path is protected: other programs read their configuration from it"
	}
	if a.Kind == pawl.AccessWrite {
		if why := j.gatePath(at); why != "" {
			s = j.Mode.closed(why)
		}
	}
	j.find(f, s, matching{
		matches: func(m matcher) likeness { return sure(m.any || m.pathMatches(at)) },
		offer:   func() *Rule { return j.offerPath(a, at) },
	})
}

func (j *decider) net(a pawl.Access) {
	f := Finding{Access: a}
	h, err := parseHost(a.Target)
	if err != nil {
		j.find(f, j.Mode.closed(err.Error()), matching{})
		return
	}
	s := j.Mode.decide(classLeave)
	if h.userinfo {
		s = j.Mode.closed("the URL has a user name before the host, which can be misleading")
	}
	j.find(f, s, matching{
		matches: func(m matcher) likeness { return sure(m.any || m.hostMatches(h)) },
		offer:   func() *Rule { return j.rule(a.Kind, h.String()) },
	})
}

// mcp decides on the call of an MCP server's tool. A tool whose description has
// changed always needs approval, whatever the rules say.
func (j *decider) mcp(a pawl.Access) {
	f := Finding{Access: a}
	t, err := parseTool(a.Target)
	if err != nil {
		j.find(f, j.Mode.closed(err.Error()), matching{})
		return
	}
	s := j.Mode.decide(classLeave)
	if t.changed {
		s = j.Mode.closed("the server has changed the description of this tool: review the difference")
	}
	j.find(f, s, matching{
		matches: func(m matcher) likeness { return sure(m.any || m.tool.covers(t)) },
		offer: func() *Rule {
			r := Rule{Kind: a.Kind, Pattern: t.String(), Decision: Allow}
			if Offerable(r) != nil {
				return nil
			}
			return &r
		},
	})
}

// command decides on a command line, segment by segment.
func (j *decider) command(a pawl.Access) {
	script, err := parse(a.Target)
	if err != nil {
		j.find(Finding{Access: a}, j.Mode.closed(err.Error()), matching{})
		return
	}
	c := classRun
	direct := j.Direct && j.Mode != ModePlan // which cannot write
	if a.Kind == pawl.AccessEscape || !j.Sandboxed || direct {
		c = classLeave
	}
	base := j.Mode.decide(c)
	if a.Kind == pawl.AccessExec && base.decision != Allow && j.Mode != ModePlan {
		switch {
		case !j.Sandboxed:
			base.why += ": no sandbox is available"
		case direct:
			base.why += ": commands write to the project directly, because there is no copy-on-write view of it"
		}
	}
	if c == classRun && base.decision == Ask && j.Review && j.c.View {
		base = modeDecision{decision: Review, why: "ask mode confirms the changes of a command before they are applied"}
	}
	if len(script.segments) == 0 { // nothing but comments
		j.find(Finding{Access: a}, base, matching{})
		return
	}
	runs := script.runs()
	gates := j.gates(script, runs)
	for i, seg := range script.segments {
		seg.deletes = slices.ContainsFunc(runs.of[i], run.deletes)
		s := base
		if gates[i] != "" {
			s = j.Mode.closed(gates[i])
		}
		j.find(Finding{Access: a, Segment: &seg}, s, matching{
			matches: func(m matcher) likeness {
				if m.rule.Decision == Allow {
					return sure(m.command.allows(seg))
				}
				return m.commandLikeness(runs, i)
			},
			offer: func() *Rule { return j.offerCommand(a, seg) },
		})
	}
}

// call decides on a call without accesses, by the risk of its tool.
func (j *decider) call() {
	c := classLeave
	if j.c.Risk == toolapi.RiskSafe {
		c = classRead
	}
	s := j.Mode.decide(c)
	if s.decision == Ask {
		s.why = "the tool does not declare what it accesses"
	}
	j.find(Finding{Access: pawl.Access{Target: j.c.Tool}}, s, matching{
		matches: func(m matcher) likeness { return sure(m.any && m.kind == "") },
		offer: func() *Rule {
			if j.c.Tool == "" {
				return nil
			}
			return j.rule("", "")
		},
	})
}

// matching tells which rules match a subject, and which rule would allow it. If
// matches is nil, only rules without a pattern match.
type matching struct {
	matches func(matcher) likeness
	offer   func() *Rule
}

func sure(yes bool) likeness {
	if yes {
		return alike
	}
	return unlike
}

// about reports how surely a rule matches the subject.
func (w matching) about(m matcher, kind pawl.AccessKind) likeness {
	allow := m.rule.Decision == Allow
	switch {
	case m.any && m.kind == "" && (!allow || kind == ""): // all calls of its tool
		return alike
	case m.kind == kind || !allow && m.kind == pawl.AccessExec && (kind == pawl.AccessEscape || kind == pawl.AccessSkill):
		if w.matches == nil {
			return sure(m.any)
		}
		return w.matches(m)
	}
	return unlike
}

// find adds a finding: the decision of the mode, tightened or loosened by the rules.
func (j *decider) find(f Finding, s modeDecision, w matching) {
	f.Decision, f.Why = s.decision, s.why
	first := func(list []matcher) *matcher {
		for i := range list {
			if w.about(list[i], f.Access.Kind) == alike {
				return &list[i]
			}
		}
		return nil
	}
	for i := range j.ignored {
		if w.about(j.ignored[i], f.Access.Kind) == alike && !slices.ContainsFunc(j.matched, j.ignored[i].rule.equal) {
			j.matched = append(j.matched, j.ignored[i].rule)
		}
	}
	granted := first(j.grants)
	allowed := first(j.allowing)
	switch {
	case s.firm || f.Decision == Allow:
	case granted != nil:
		f.Decision, f.Why = Allow, "allowed by your saved answer: "+granted.rule.String()
	case allowed != nil:
		f.Decision, f.Why = Allow, "allowed by your rule: "+allowed.rule.String()
	}
	for _, m := range j.refusing {
		like, decision := w.about(m, f.Access.Kind), m.rule.Decision
		if like == unlike || decision == Ask && granted != nil && !s.firm {
			continue
		}
		why := fmt.Sprintf("%s rule: %s", m.rule.owner(), m.rule)
		switch {
		case like == maybe && decision == Deny:
			c := j.Mode.closed("it may be what this rule denies: " + m.rule.String())
			decision, why, s.firm = c.decision, c.why, true
		case decision != Ask:
			decision = Deny
		}
		if decision.rank() > f.Decision.rank() {
			f.Decision, f.Why = decision, why
		}
	}
	if (f.Decision == Ask || f.Decision == Review) && !s.firm && w.offer != nil {
		f.offer = w.offer()
	}
	if f.Decision == Ask && j.Absent {
		f.Decision, f.Why = Deny, f.Why+"; no user is present to ask"
	}
	f.Why = sanitize.Line(f.Why)
	j.findings = append(j.findings, f)
}
