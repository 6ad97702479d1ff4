package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// maxFile bounds the size of a script in bytes, so that a wrong path cannot exhaust memory.
const maxFile = 32 << 20

// line is a reply in the file.
type line struct {
	Text      string        `json:"text"`
	Reasoning string        `json:"reasoning"`
	Calls     []call        `json:"calls"`
	Finish    pawl.Finish   `json:"finish"`
	Usage     pawl.Usage    `json:"usage"`
	Deltas    int           `json:"deltas"`   // number of chunks for the text and the reasoning; 0 means 1
	DelayMS   int           `json:"delay_ms"` // before each chunk
	Fault     Kind          `json:"fault"`
	Times     int           `json:"times"`  // how often the fault occurs; 0 means always. Requires a reader that counts
	Expect    string        `json:"expect"` // regular expression for the last message
	Agent     string        `json:"agent"`  // the line is for subagent sessions of this agent, or for titles and summaries
	Window    *model.Window `json:"window"` // context window, at four bytes per token; only in the first line, without a reply
}

// call is a tool call of a line. Script is the file with the replies of the subagent session it spawns.
type call struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Script string          `json:"script"`
}

// reply is a validated line with defaults filled in.
type reply struct {
	line
	number int // line number in the file, from 1
	expect *regexp.Regexp
}

// readFile reads and validates a script.
func readFile(path string, faults Faults) ([]reply, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	return parseText(path, text, faults)
}

// parseText parses and validates the text of a script. Errors include path.
func parseText(path, text string, faults Faults) ([]reply, error) {
	var replies []reply
	number := 0
	for s := range strings.Lines(text) {
		number++
		s = strings.TrimSpace(s)
		if s == "" || strings.HasPrefix(s, "//") || strings.HasPrefix(s, "#") {
			continue
		}
		r, err := parse(s, faults)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		r.number = number
		replies = append(replies, r)
	}
	if len(replies) == 0 {
		return nil, fmt.Errorf("%s: the script has no replies", path)
	}
	return replies, nil
}

func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxFile {
		return "", fmt.Errorf("%s: the script is larger than %d bytes", path, maxFile)
	}
	return string(data), nil
}

// parse parses one line and fills in defaults.
func parse(s string, faults Faults) (reply, error) {
	var r reply
	if err := strictjson.Decode([]byte(s), &r.line); err != nil {
		return reply{}, err
	}
	if err := r.check(); err != nil {
		return reply{}, err
	}
	if err := r.checkFault(faults); err != nil {
		return reply{}, err
	}
	if r.Expect != "" {
		var err error
		if r.expect, err = regexp.Compile(r.Expect); err != nil {
			return reply{}, fmt.Errorf("expect: %w", err)
		}
	}
	for i := range r.Calls {
		if r.Calls[i].Input == nil {
			r.Calls[i].Input = json.RawMessage("{}")
		}
	}
	return r, nil
}

func (l *line) check() error {
	switch l.Finish {
	case "", pawl.FinishEndTurn, pawl.FinishToolUse, pawl.FinishMaxTokens:
	default:
		return fmt.Errorf("finish %q: use end_turn, tool_use or max_tokens", l.Finish)
	}
	if l.Deltas < 0 {
		return errors.New("deltas must not be negative")
	}
	if l.DelayMS < 0 {
		return errors.New("delay_ms must not be negative")
	}
	if l.Window != nil && (l.Window.Context < 1 || l.Window.Output < 0 || l.Window.Output >= l.Window.Context) {
		return errors.New("window: context must be positive, and output smaller than context")
	}
	for i, c := range l.Calls {
		if c.Name == "" {
			return fmt.Errorf("call %d has no name", i+1)
		}
	}
	return nil
}

// checkFault rejects faults that the reader does not support; nil means [Model.Stream].
func (l *line) checkFault(faults Faults) error {
	switch {
	case l.Times < 0:
		return errors.New("times must not be negative")
	case l.Times > 0 && l.Fault == "":
		return errors.New("times needs a fault")
	case l.Times > 0 && faults == nil:
		return errors.New("times works only with the fake provider")
	}
	switch l.Fault {
	case "", KindError, KindOverloaded, KindDrop, KindHang, KindGarbage:
		return nil
	}
	if faults != nil {
		return faults(l.Fault)
	}
	return fmt.Errorf("fault %q: use error, overloaded, drop, hang or garbage", l.Fault)
}
