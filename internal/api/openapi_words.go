package api

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

const about = "Sessions of pawl over HTTP, as `pawl serve` offers them.\n\n" +
	"All that happens in a session is an event in its log, with a number. An order is accepted when its event is in the log: " +
	"from then on a crash does not lose it, and the answer names the event's number. What comes of it is told by later events.\n\n" +
	"Bodies are JSON in UTF-8. Unknown keys, keys that are given twice and unknown parameters are refused. " +
	"A newer server may send keys, types of events and values that are not in this document: pass over them.\n\n" +
	"Durations are in nanoseconds, amounts of money in billionths of a US dollar. " +
	"Each answer has an `X-Request-Id`, by which it is found in the server's log."

var tags = []tag{
	{"sessions", "Make, find, change and remove sessions."},
	{"prompts", "Give a session work, and change what waits."},
	{"turns", "What happens to work that is under way: answer, cancel, go on."},
	{"events", "See what happened and what happens."},
	{"history", "Make the conversation smaller, go back, branch off."},
	{"missions", "Begin a mission, and see how far it has come."},
	{"server", "What is of no single session."},
}

// tagged maps the end of a route's path to its tag.
var tagged = []struct{ end, tag string }{
	{"/prompts", "prompts"}, {"/prompts/{seq}", "prompts"},
	{"/answer", "turns"}, {"/cancel", "turns"}, {"/resume", "turns"},
	{"/missions", "missions"}, {"/mission", "missions"},
	{"/events", "events"}, {"/log", "events"}, {"/draft", "events"},
	{"/shell", "turns"}, {"/compact", "history"}, {"/undo", "history"}, {"/preview", "history"}, {"/fork", "history"},
}

func (r Route) tag() string {
	for _, t := range tagged {
		if strings.HasSuffix(r.Path, t.end) {
			return t.tag
		}
	}
	if strings.HasPrefix(r.Path, "/v1/sessions") {
		return "sessions"
	}
	return "server"
}

// more adds to the summaries of routes, by the route's name.
var more = map[string]string{
	"createSession": "With an `id` the request may be repeated: a second one is a conflict, and the session is there.",
	"startMission": "The session and its first prompt are there at once or not at all. The prompt is the goal, and the agent the Commander. " +
		"With an `id` the request may be repeated, as with createSession.",
	"importSession": "The body is `application/x-ndjson`: the events of one session, one a line, from the first on. " +
		"It keeps its id; if that is taken, it is a conflict. All of it is taken or nothing. Events of older versions are taken, too.",
	"streamEvents": "The answer is a stream of [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html) that does not end by itself. " +
		"First come those of the log that are after the given number, then what happens. The `data` of each is an `Event` as JSON on one line. " +
		"One of the log has its number as its `id`: these come once each, in order, without gaps. " +
		"One that is not kept (`delta`, `progress`, `status`) has no `id` and is left out for who does not keep up.\n\n" +
		"A client that was cut off asks again with `Last-Event-ID`, or `after`. Lines that begin with a colon say that the server is still there. " +
		"If the server cannot go on, an event of the name `error` comes last, whose `data` is a `Fault`.",
	"exportSession": "The answer is `application/x-ndjson`: an `Event` as JSON on each line. It ends with the newest event that there was when it began; " +
		"a connection that breaks off before is an error. importSession takes it.",
	"getDraft": "It is not found while nothing is being written. Its deltas' offsets join it to those of the stream.",
	"sendPrompt": "While a turn is open, `delivery` decides: left out, the session is busy; `queue` waits for the turn's end; `steer` is taken in at its next step. " +
		"The first prompt of a session names its model; later ones go on with it. " +
		"The event `turn.finished` says that the work has ended, and why. To set `trusted`, or the mode `yolo`, needs the scope `admin`.",
	"rewordPrompt":   "It is a conflict if the prompt was taken in, or back, already.",
	"withdrawPrompt": "It is a conflict if the prompt was taken in, or back, already.",
	"answer": "An event `asked` has the question and its number. A person's `outcome` is `answered` or `declined`; " +
		"to permit a call is to answer without `answers`. It is a conflict if it has its answer already.",
	"cancelSession":  "With nothing to do it is no error.",
	"compactSession": "It is done before the next step; the event `compacted` says what came of it.",
	"runCommand": "It runs as the agent's commands run, and waits until no turn is open. Events `progress` have its output as it comes, " +
		"and the event `shell.ran` says what came of it.",
	"previewUndo": "Without `to` and `redo` it is the undo of the newest turn, or of the person's command after it.",
	"undoSession": "The event `undone` says what came of it. It is busy unless the session is idle.",
	"forkSession": "The files stay as they are.",
}

// faultWords say what a code means.
var faultWords = map[pawl.Code]string{
	pawl.CodeInvalid:     "The request makes no sense, whoever asks and whenever.",
	CodeUnauthorized:     "There is no token, or none that the server knows.",
	pawl.CodeDenied:      "The token, or a rule of the server's, does not permit it.",
	pawl.CodeNotFound:    "There is no such session, prompt or event.",
	pawl.CodeConflict:    "Somebody else was first, and nothing was changed.",
	pawl.CodeBusy:        "The session is at work, or another process has it.",
	CodeLimited:          "It is too much at once: ask again later.",
	pawl.CodeInternal:    "Something failed in the server: its log says what, by the request's id.",
	pawl.CodeUnavailable: "Something that is needed cannot be reached, or the server is about to end: ask again later.",
}

// examples are bodies of the main requests, by their routes.
var examples = map[string]any{
	"startMission":  pawl.NewMission{Dir: "/home/ada/engine", Order: pawl.MissionOrder{Goal: "Keep the comments."}},
	"createSession": NewSession{Dir: "/home/ada/engine", Title: "Fix the build"},
	"renameSession": Title{Title: "Fix the build"},
	"sendPrompt": Prompt{
		Parts: pawl.Parts{pawl.Text{Text: "Fix the build."}}, Delivery: pawl.DeliverQueue,
		Settings: pawl.Settings{Model: "anthropic/claude-sonnet-4-5", Mode: "guard", MaxCost: 2_000_000_000},
	},
	"rewordPrompt":   Parts{Parts: pawl.Parts{pawl.Text{Text: "Fix the build, and say why it broke."}}},
	"answer":         pawl.Answer{Outcome: pawl.OutcomeAnswered},
	"compactSession": Instructions{Instructions: "Keep the names of the tests."},
	"runCommand":     Shell{Command: "go test ./..."},
	"previewUndo":    pawl.Undo{To: 12},
	"undoSession":    pawl.Undo{To: 12, Conflicts: pawl.ConflictsAside},
	"forkSession":    Fork{At: 12},
}
