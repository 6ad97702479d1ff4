package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// maxCommands is the maximum number of commands of one file.
const maxCommands = 200

// group is a list of commands with a matcher.
type group struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// handler is one command.
type handler struct {
	Type      string          `json:"type"`
	Command   json.RawMessage `json:"command"` // a shell command line, or a program and its arguments
	Args      []string        `json:"args"`
	Timeout   *float64        `json:"timeout"` // seconds
	OnTimeout string          `json:"on_timeout"`
	CanAllow  bool            `json:"may_allow"`

	// Accepted for compatibility and ignored.
	StatusMessage string `json:"statusMessage"`
	Description   string `json:"description"`
	Async         bool   `json:"async"`
}

// ParseConfig parses the hooks of a configuration file: the key hooks of its
// object, in the format of Claude Code. It leaves out what it does not
// understand and reports it as a fault. An error means that the file has
// another format.
func ParseConfig(data json.RawMessage, origin Origin) ([]External, []Fault, error) {
	var file, hooks map[string]json.RawMessage
	err := strictjson.Decode(data, &file)
	if raw, ok := file["hooks"]; ok && err == nil {
		err = strictjson.Decode(raw, &hooks)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read hooks of %s: %w", origin.File, err)
	}
	p := configParser{origin: origin}
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		p.event(event, hooks[event])
	}
	if len(p.list) > maxCommands {
		return nil, p.faults, fmt.Errorf("read hooks of %s: too many commands (%d, the limit is %d)", origin.File, len(p.list), maxCommands)
	}
	return p.list, p.faults, nil
}

type configParser struct {
	origin Origin
	list   []External
	faults []Fault
}

func (p *configParser) fault(event, format string, args ...any) {
	p.faults = append(p.faults, Fault{Hook: sanitize.Line(event + " in " + p.origin.File), Text: sanitize.Text(fmt.Sprintf(format, args...))})
}

func (p *configParser) event(event string, raw json.RawMessage) {
	point, known := ParsePoint(event)
	if !known {
		p.fault(event, "unknown event: its hooks are ignored")
		return
	}
	var groups []group
	if err := json.Unmarshal(raw, &groups); err != nil {
		p.fault(event, "hooks ignored: write a list of {\"matcher\", \"hooks\"}: %v", err)
		return
	}
	if err := strictjson.Decode(raw, new([]group)); err != nil {
		p.fault(event, "unknown key in a group: %v", err)
	}
	for _, g := range groups {
		for _, raw := range g.Hooks {
			if x, ok := p.handler(event, raw); ok {
				x.Point, x.Event, x.Matcher, x.Origin = point, event, g.Matcher, p.origin
				p.list = append(p.list, x)
			}
		}
	}
}

func (p *configParser) handler(event string, raw json.RawMessage) (x External, ok bool) {
	var h handler
	if err := json.Unmarshal(raw, &h); err != nil {
		p.fault(event, "hook ignored: %v", err)
		return x, false
	}
	if err := strictjson.Decode(raw, new(handler)); err != nil {
		p.fault(event, "unknown key in a hook: %v", err)
	}
	if h.Type != "command" && h.Type != "" {
		p.fault(event, "hook of type %q ignored: only command is supported", h.Type)
		return x, false
	}
	if err := h.command(&x); err != nil {
		p.fault(event, "hook ignored: %v", err)
		return x, false
	}
	if h.Async {
		p.fault(event, "async is not supported: Pawl waits for the command")
	}
	x.CanAllow = h.CanAllow
	if x.CanAllow && p.origin.Layer.rank() == 0 {
		p.fault(event, "may_allow has no effect in a project: only your own hooks can allow")
		x.CanAllow = false
	}
	switch h.OnTimeout {
	case "", "block":
	case "allow":
		x.AllowOnTimeout = true
	default:
		p.fault(event, "unknown on_timeout %q: use block or allow; block is used", h.OnTimeout)
	}
	if h.Timeout != nil {
		x.Timeout = p.timeout(event, *h.Timeout)
	}
	return x, true
}

func (h handler) command(x *External) error {
	if err := json.Unmarshal(h.Command, &x.Command); err != nil {
		if json.Unmarshal(h.Command, &x.Args) != nil || len(h.Args) > 0 {
			return errors.New("command must be text or a list of texts")
		}
	} else if len(h.Args) > 0 {
		x.Args, x.Command = append([]string{x.Command}, h.Args...), ""
	}
	if x.Command == "" && (len(x.Args) == 0 || x.Args[0] == "") {
		return errors.New("command is empty")
	}
	return nil
}

func (p *configParser) timeout(event string, seconds float64) time.Duration {
	if seconds > 0 && seconds <= maxTimeout.Seconds() {
		return time.Duration(seconds * float64(time.Second))
	}
	p.fault(event, "invalid timeout %v: use seconds, more than 0 and at most %v", seconds, maxTimeout.Seconds())
	if seconds > 0 {
		return maxTimeout
	}
	return defaultTimeout
}
