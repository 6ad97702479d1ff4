// Package hook is where policy joins the loop: at named points a registry runs
// hooks in order, each with one job. A hook may look, change, refuse or add a
// word; what it can do where is in one table. Hooks written in Go and commands
// from a configuration are the same to the caller.
//
// Hooks make pawl stricter. An allow of theirs is only a proposal, see [Ruling].
package hook

// Point is a place in the loop where hooks run.
type Point string

// The points.
const (
	ChatMessage      Point = "chat.message"        // a prompt has come
	ToolBefore       Point = "tool.execute.before" // a call is about to be judged and run
	ToolAfter        Point = "tool.execute.after"  // a call has its result
	AssistantDone    Point = "assistant.done"      // the model has no more calls: the turn would end
	SessionStart     Point = "session.start"
	SessionEnd       Point = "session.end"
	PermissionAsk    Point = "permission.ask" // a person is about to be asked
	CompactionBefore Point = "compaction.before"
	CompactionAfter  Point = "compaction.after"
	SubagentStop     Point = "subagent.stop" // a child session's turn would end
	Notification     Point = "notification"  // a person is told something
)

// power is something that a hook can do besides looking, telling a person and
// stopping the turn.
type power int

const (
	canBlock    power = 1 << iota
	canDecide         // allow, ask or deny
	canInput          // change a call's input
	canPrompt         // change a prompt
	canResult         // change a result
	canContinue       // keep a turn going
	canContext        // add to what the model reads
)

// powers says what hooks can do where. A hook that does anything else is at
// fault.
var powers = map[Point]power{
	ChatMessage:      canBlock | canPrompt | canContext,
	ToolBefore:       canBlock | canDecide | canInput | canContext,
	ToolAfter:        canResult | canContext,
	AssistantDone:    canContinue | canContext,
	SessionStart:     canContext,
	SessionEnd:       0,
	PermissionAsk:    canBlock | canDecide,
	CompactionBefore: canContext,
	CompactionAfter:  canContext,
	SubagentStop:     canContinue | canContext,
	Notification:     0,
}

// aliases are the names that other agents have for the points.
var aliases = map[string]Point{
	"UserPromptSubmit":  ChatMessage,
	"PreToolUse":        ToolBefore,
	"PostToolUse":       ToolAfter,
	"Stop":              AssistantDone,
	"SessionStart":      SessionStart,
	"SessionEnd":        SessionEnd,
	"PermissionRequest": PermissionAsk,
	"PreCompact":        CompactionBefore,
	"PostCompact":       CompactionAfter,
	"SubagentStop":      SubagentStop,
	"Notification":      Notification,
}

// ParsePoint returns the point of that name, or of that alias.
func ParsePoint(name string) (Point, bool) {
	if p, ok := aliases[name]; ok {
		return p, true
	}
	_, ok := powers[Point(name)]
	return Point(name), ok
}
