package api

import (
	"encoding/json"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/manage"
)

const about = "The HTTP API of Pawl, served by `pawl serve`.\n\n" +
	"Everything that happens in a session is a numbered event in its log. A request is accepted when its event is in the log: " +
	"from then on it survives a crash, and the response contains the number of the event. Later events report the result.\n\n" +
	"Bodies are JSON in UTF-8. Unknown keys, duplicate keys and unknown parameters are rejected. " +
	"A newer server may send keys, event types and values that are not in this document: ignore them.\n\n" +
	"Durations are in nanoseconds, amounts of money in billionths of a US dollar. " +
	"Every response has an `X-Request-Id` header, which identifies the request in the server's log."

var tags = []tag{
	{"sessions", "Create, list, change and delete sessions."},
	{"prompts", "Send prompts, and change or withdraw waiting ones."},
	{"turns", "Answer, cancel and resume running turns."},
	{"events", "Read and stream the events of a session."},
	{"history", "Compact, undo, redo and fork."},
	{"missions", "Start missions, follow their progress, and control them."},
	{"files", "Read the files of a session, and see what it changed."},
	{"devices", "Sign browsers in and out, with links and passkeys."},
	{"manage", "Manage the configuration, API keys, permissions and extensions of the user who runs the server."},
	{"server", "Models, projects, usage and the server itself."},
}

// tagged maps the end of a route's path to its tag.
var tagged = []struct{ end, tag string }{
	{"/prompts", "prompts"}, {"/prompts/{seq}", "prompts"},
	{"/answer", "turns"}, {"/asks", "turns"}, {"/items", "events"}, {"/items/{item}", "events"}, {"/items/stream", "events"}, {"/cancel", "turns"}, {"/resume", "turns"},
	{"/diff", "files"}, {"{id}/files", "files"}, {"/file", "files"},
	{"/missions", "missions"}, {"/mission", "missions"},
	{"/events", "events"}, {"/log", "events"}, {"/draft", "events"},
	{"/shell", "turns"}, {"/compact", "history"}, {"/undo", "history"}, {"/preview", "history"}, {"/fork", "history"},
}

func (r Route) tag() string {
	switch {
	case strings.HasPrefix(r.Path, session+"/mission/"):
		return "missions"
	case strings.HasPrefix(r.Path, managed):
		return "manage"
	}
	for _, t := range tagged {
		if strings.HasSuffix(r.Path, t.end) {
			return t.tag
		}
	}
	if strings.HasPrefix(r.Path, "/v1/devices") || strings.HasPrefix(r.Path, "/v1/passkeys") {
		return "devices"
	}
	if strings.HasPrefix(r.Path, "/v1/sessions") {
		return "sessions"
	}
	return "server"
}

// more adds to the summaries of routes, by the route's name.
var more = map[string]string{
	"createSession": "With an `id` the request is safe to retry: if the session already exists, the response is a conflict.",
	"startMission": "Creates the session and its first prompt atomically. The prompt is the goal, and the agent is the Commander. " +
		"With an `id` the request is safe to retry, as with createSession.",
	"listSessions": "The response is a page. If it has `next`, there are more sessions: pass it as `cursor`, with the same parameters, to get the next page. " +
		"A page can have fewer sessions than `limit` and still have `next`. The pages contain each session once, in the order of the time of the first page, even if sessions are updated meanwhile.\n\n" +
		"With `search`, each session has `match`: the newest message that contains all words, with an excerpt. What users and agents wrote and the title are searched, without case and accents; what was undone is not. " +
		"Words in double quotes, and words that only punctuation separates, such as a path, must follow each other. The last word may be the beginning of one, unless it is in quotes or a space follows it. " +
		"An excerpt is plain text: show it as text, not as HTML.\n\n" +
		"A session in the state `asking` is also `running`; a `failed` one is also `idle`. A cursor is valid only for its parameters and its user, and gives no access to sessions.",
	"streamMission": "The response is a stream of server-sent events. The `data` of each is a `Board` as JSON on one line: the first one at once, others when it has changed. " +
		"To resume after a disconnect, open the stream again. Lines that begin with a colon are keep-alives.",
	"getMissionReport": "`html` is a self-contained page whose content security policy allows no scripts and no requests. `intoto` is an in-toto statement about the latest round of the gate; " +
		"the response is not found before the first round.",
	"getMissionPlan": "The response is not found until the mission has a plan. `hash` identifies the plan in setMissionPlan and approveMission.",
	"setMissionPlan": "Writes the plan to the mission's `TODO.md`, where the mission reads it at its next step, or when the plan is approved. The response is a conflict if `hash` is not that of the current plan. Only the owner of the mission can edit it.",
	"approveMission": "The response is a conflict if `hash` is not that of the current plan, edits included. Only missions that were started with `approve_plan` wait for approval.",
	"pauseMission":   "Workers that run finish, and their work is merged. The response is a conflict if the mission is not running.",
	"stopMission":    "Interrupts the workers; what they have done is kept for the next attempt. Succeeds if the mission is not running. The response does not wait for the end: the board reports it.",
	"resumeMission":  "An interrupted mission continues after its last event. A mission that is paused, stopped or blocked gets a new turn with `text` and `settings`. The response is a conflict if the mission is sealed.",
	"importSession": "The body is `application/x-ndjson`: all events of one session, one per line, starting with the first. " +
		"The session keeps its ID unless `id` names another; if that exists, the response is a conflict. The import is atomic. Events of older versions are accepted; unknown kinds, fields and values are not.\n\n" +
		"Only the conversation is imported: prompts, replies, tool calls and their results. The session works where the request says, is idle, and has no settings, permissions, queued prompts, missions or snapshots.",
	"streamEvents": "The response is a stream of [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html) that does not end by itself. " +
		"It starts with the events of the log after the given number and continues with new ones. The `data` of each is an `Event` as JSON on one line. " +
		"Events of the log have their number as `id` and are sent exactly once, in order, without gaps. " +
		"Events that are not stored (`delta`, `progress`, `status`) have no `id` and are dropped for clients that are too slow.\n\n" +
		"To resume after a disconnect, send `Last-Event-ID` or `after`. Lines that begin with a colon are keep-alives. " +
		"If the server cannot continue, the last event has the name `error` and a `Fault` as its `data`.",
	"exportSession": "The response is `application/x-ndjson`: one `Event` as JSON per line, up to the newest event at the time of the request. " +
		"A connection that ends early is an error. importSession accepts this format.",
	"listItems": "Items are what a person reads, made from the events; what was undone is left out. Each has an `id` that stays the same, and its position is `seq` and then `part`. " +
		"Long texts are cut and files have no content: `cut` says so. To get older items, pass the `id` of the first one as `before`.",
	"getItem": "The response is not found if the item was undone.",
	"streamItems": "The response is a stream of [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html) that does not end by itself. " +
		"The `data` of each is an `ItemChange` as JSON on one line: `items` are new or replace those with the same `id`, `removed` are the IDs of items to remove, `appended` is text to add to the end of an item's `text`. " +
		"The first one has `reset` and the newest items; `more` says whether there are older ones, which listItems has.\n\n" +
		"To resume after a disconnect, remove the items with `unsaved`, and send `Last-Event-ID` or `after`: the first message has what you lack, or `reset` if that is more than `limit`. " +
		"Lines that begin with a colon are keep-alives. If the server cannot continue, the last event has the name `error` and a `Fault` as its `data`.",
	"streamFeed": "One stream for everything that a list of sessions and an inbox show. The `data` of each server-sent event is a `FeedChange` as JSON on one line. " +
		"The first one has `reset`, the 100 newest sessions without a parent and all open asks, those of subagents too; later ones have what changed. " +
		"To resume after a disconnect, send `Last-Event-ID` or `after`: if the server does not have the changes since then, it begins with `reset` again.",
	"listAsks": "Each has the session to answer in, and its root: the session that a person started, if a subagent asks. The `choices` of an item have the answers to send to answer.",
	"getDraft": "The response is not found while no reply is being written. The offsets of the deltas connect the draft to the stream.",
	"sendPrompt": "While a turn is open, `delivery` decides: `queue` waits for the end of the turn, `steer` is read at its next step, and without it the response is busy. " +
		"The first prompt of a session sets its model; later ones can omit it. " +
		"The event `turn.finished` reports the end of the turn and its reason. `trusted` and the mode `yolo` require the scope `admin`.",
	"rewordPrompt":   "The response is a conflict if the prompt was already processed or withdrawn.",
	"withdrawPrompt": "The response is a conflict if the prompt was already processed or withdrawn.",
	"answer": "The event `asked` has the question; its number is `seq`. The `outcome` of an answer is `answered` or `denied`; " +
		"to allow a tool call, send `answered` without `answers`. The response is a conflict if the question was already answered.",
	"cancelSession":  "Succeeds if there is nothing to cancel.",
	"compactSession": "Compaction happens before the next step. The event `compacted` reports the result.",
	"runCommand": "The command runs in the same sandbox as those of the agent, when no turn is open. Events `progress` stream its output, " +
		"and the event `shell.ran` reports the result.",
	"previewUndo": "Without `to` and `redo`, it previews the undo of the last turn, or of the user's shell command after it.",
	"undoSession": "The event `undone` reports the result. The response is busy unless the session is idle.",
	"getDiff": "Without `turn` and `working_tree`, it compares the files as they were before the session first changed them with now, without what was undone. " +
		"With `turn` it has what the tool calls and subagents of that turn changed, and its commands too. With `working_tree` it compares the working directory with the last commit, and has untracked files; " +
		"the response is not found outside of a repository. Files that permission rules keep the agent from reading without asking have no patch, and `hidden` says so.\n\n" +
		"A patch is a unified diff. At most 1,000 files, 1 MiB in all and 128 KiB of each file are returned, and `truncated` says if there is more: ask for one file with `path` to get up to 1 MiB of it.",
	"listDirectory": "At most 5,000 entries are returned; `more` says whether there are others. Names of files are listed whether or not they can be read.",
	"readFile": "Only files in the working directory and in added directories can be read, and only those that the agent may read without asking; symbolic links must not lead out of them. " +
		"The header `X-File-Size` has the size of the whole file. The content type is `text/plain`, an image type or `application/octet-stream`, by content and not by name, and browsers save the response instead of showing it.",
	"forkSession":    "The files do not change.",
	"getConfig":      "Secrets are masked. `hash` identifies the user's file in requests that change it. If a file cannot be read, `problems` says so, and the other settings are returned.",
	"setConfigValue": "The value is validated with the schema of the configuration, and the rest of the file, with its comments, stays as it is. The response is a conflict if the file has changed since `hash` was read.",
	"listProviders":  "`key` says whether the API key comes from the environment, the keyring or a file. No route returns a key.",
	"setKey":         "The key is saved in the system keyring or, without one, in a file that only the user can read. A key in the environment takes precedence.",
	"deleteKey":      "A key in the environment stays. The response is not found if no key is saved.",
	"testKey":        "The request lists the provider's models, which is free.",
	"getPermissions": "Built-in rules are left out. Only rules whose `origin` is `user` can be removed.",
	"addRule":        "The response is a conflict if the rule exists, or if the file has changed since `hash` was read. Comments between the rules of the file are lost.",
	"removeRule":     "The rule must be as getPermissions returns it. The response is a conflict if the file has changed since `hash` was read.",
	"listExtensions": "It starts none of them. Extensions of a project that is not trusted are inactive. Built-in hooks are left out.",
	"setServer":      "Servers of a project cannot be changed. Sessions that run keep their servers.",
	"createLink": "Open the link in the browser to sign in; it is valid for 5 minutes and works once. The device has the user, limits and at most the scope of the caller, " +
		"and is valid for 90 days, or as long as the caller's token. The response is the only one that has the link.",
	"createPasskeyOptions": "For pages of the server: pass the options to `navigator.credentials.create`. Only a browser that was signed in within the last 10 minutes can add a passkey.",
	"createPasskey":        "The passkey signs browsers in as the user, with the scope and limits, of the browser that adds it, for a year. Revoke it with `revokeDevice`.",
	"listDevices":          "Callers see the devices and passkeys of their user; those that can see all sessions and have the scope `admin` see all.",
	"revokeDevice":         "Open event streams of the device end at once.",
}

// faultWords say what a code means.
var faultWords = map[pawl.Code]string{
	pawl.CodeInvalid:     "The request is invalid.",
	CodeUnauthorized:     "The token is missing or unknown.",
	pawl.CodeDenied:      "The token or a rule of the server does not allow it.",
	pawl.CodeNotFound:    "The session, prompt or event does not exist.",
	pawl.CodeConflict:    "The request conflicts with the current state. Nothing was changed.",
	pawl.CodeBusy:        "The session is running a turn, or another process holds it.",
	CodeTooLarge:         "The body is larger than the route accepts.",
	CodeLimited:          "A rate limit was reached. Retry after `Retry-After`.",
	pawl.CodeInternal:    "Internal error. The server's log has the details, under the request ID.",
	pawl.CodeUnavailable: "A dependency is unavailable, or the server is shutting down. Retry later.",
}

// examples are bodies of the main requests, by their routes.
var examples = map[string]any{
	"startMission":   pawl.NewMission{Dir: "/home/ada/engine", Order: pawl.MissionOrder{Goal: "Keep the comments."}},
	"setMissionPlan": PlanEdit{Hash: "sha256:1a2b…", Tasks: []pawl.Task{{ID: "T1", Title: "Keep the comments", Files: []string{"config/"}}}},
	"approveMission": PlanApproval{Hash: "sha256:1a2b…"},
	"resumeMission":  MissionResume{Text: "The key is in place now."},
	"setConfigValue": ConfigValue{Key: "permissions.mode", Value: json.RawMessage(`"guard"`), Hash: "1a2b…"},
	"setKey":         ProviderKey{Key: "sk-…"},
	"addRule":        RuleChange{Rule: manage.Rule{Tool: "bash", Pattern: "go test *", Decision: "allow"}, Hash: "1a2b…"},
	"setServer":      ServerChange{Enabled: true, Hash: "1a2b…"},
	"createSession":  NewSession{Dir: "/home/ada/engine", Title: "Fix the build"},
	"renameSession":  Title{Title: "Fix the build"},
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
	"createLink":     NewLink{Name: "phone", Scope: ScopeApprove},
}
