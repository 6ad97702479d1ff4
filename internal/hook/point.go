// Package hook runs hooks at named points of the loop. A hook can observe,
// change, block or add a text for the model; one table says what is possible
// at which point. Built-in hooks in Go and external commands of a
// configuration are the same to the caller.
//
// Hooks make Pawl stricter. An allow of a hook is only a proposal, see
// [Ruling].
package hook

// Point is a point in the loop where hooks run.
type Point string

// The points.
const (
	ChatMessage      Point = "chat.message"        // a prompt has arrived
	ToolBefore       Point = "tool.execute.before" // a call is about to be authorized and run
	ToolAfter        Point = "tool.execute.after"  // a call has its result
	AssistantDone    Point = "assistant.done"      // the model makes no more calls: the turn would end
	SessionStart     Point = "session.start"
	SessionEnd       Point = "session.end"
	PermissionAsk    Point = "permission.ask" // the user is about to be asked
	CompactionBefore Point = "compaction.before"
	CompactionAfter  Point = "compaction.after"
	SubagentStop     Point = "subagent.stop" // a subagent's turn would end
	Notification     Point = "notification"  // the user gets a notification
)

// power is something that a hook can do, besides observing, sending a message
// to the user and stopping the turn.
type power int

const (
	canBlock    power = 1 << iota
	canDecide         // allow, ask or deny
	canInput          // change a call's input
	canPrompt         // change a prompt
	canResult         // change a result
	canContinue       // continue a turn
	canContext        // add a text for the model
)

// powers lists what hooks can do at each point. Anything else is a fault of
// the hook.
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

// aliases maps the names that other agents have for the points.
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

// ParsePoint returns the point with that name or alias.
func ParsePoint(name string) (Point, bool) {
	if p, ok := aliases[name]; ok {
		return p, true
	}
	_, ok := powers[Point(name)]
	return Point(name), ok
}
