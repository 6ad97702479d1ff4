package api

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Form is the media type of a body.
type Form string

// Media types.
const (
	FormNone   Form = ""
	FormJSON   Form = "application/json"
	FormLines  Form = "application/x-ndjson" // one event per line
	FormStream Form = "text/event-stream"
	FormBytes  Form = "application/octet-stream"

	FormHTML      Form = "text/html"
	FormMarkdown  Form = "text/markdown"
	FormStatement Form = "application/vnd.in-toto+json"
)

// Route is one operation of the HTTP interface.
type Route struct {
	Name    string // unique; also the function's name in generated clients
	Method  string
	Path    string
	Summary string
	Scope   Scope
	Query   []Param

	InForm  Form // of the request body; FormNone means no body
	In      reflect.Type
	MaxBody int64 // bytes
	OutForm Form
	Others  []Form // other forms of the response, which a parameter selects
	Out     reflect.Type
	Status  int // on success
}

// Param is a query parameter.
type Param struct {
	Name string
	Kind string // string, integer, boolean or date-time
	What string
}

// Limits of request bodies, in bytes.
const (
	maxBody   = 1 << 20
	maxPrompt = 48 << 20 // with images
	maxImport = 64 << 20 // whole logs
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// one returns a route that takes and returns JSON. Empty means no body.
func one[In, Out any](name, method, path, summary string, scope Scope, query ...Param) Route {
	r := Route{
		Name: name, Method: method, Path: path, Summary: summary, Scope: scope, Query: query, MaxBody: maxBody,
		OutForm: FormJSON, Out: typeOf[Out](), Status: http.StatusOK,
	}
	if in := typeOf[In](); in != typeOf[Empty]() {
		r.InForm, r.In = FormJSON, in
	}
	if r.Out == typeOf[Empty]() {
		r.OutForm, r.Out, r.Status = FormNone, nil, http.StatusNoContent
	}
	return r
}

// with returns a copy of the route with a change applied.
func (r Route) with(change func(*Route)) Route {
	change(&r)
	return r
}

func created(r *Route) { r.Status = http.StatusCreated }
func accepted(r *Route) {
	r.Status = http.StatusAccepted
}
func large(r *Route) { r.MaxBody = maxPrompt }
func stream[T any](r *Route) {
	r.OutForm, r.Out, r.Status = FormStream, typeOf[T](), http.StatusOK
}

const session = "/v1/sessions/{id}"

var projectDir = Param{"dir", "string", "the absolute path of the directory"}

var after = Param{"after", "integer", "only events after this number"}

// Routes lists all routes, in the order of the documentation.
var Routes = slices.Concat(mainRoutes, manageRoutes)

var mainRoutes = []Route{
	one[NewSession, pawl.Session]("createSession", "POST", "/v1/sessions", "Create a session.", ScopeRun).with(created),
	one[Empty, pawl.SessionPage]("listSessions", "GET", "/v1/sessions", "List sessions, most recently updated first.", ScopeRead,
		Param{"cursor", "string", "`next` of the page before; all other parameters except limit must be the same"},
		Param{"query", "string", "prefixes of words in the title or the first prompt"},
		Param{"search", "string", "words and \"phrases\" that a message or the title must contain"},
		Param{"dir", "string", "only sessions in this directory"},
		Param{"state", "string", "only sessions in this state: idle, queued, running, asking or failed"},
		Param{"agent", "string", "only sessions whose newest prompt is for this agent"},
		Param{"model", "string", "only sessions whose newest prompt is for this model"},
		Param{"parent", "string", "only subagents of this session; if omitted, only sessions without a parent"},
		Param{"owner", "string", "only sessions of this user"},
		Param{"shared", "boolean", "with owner: also sessions that others share with this user"},
		Param{"unfinished", "boolean", "only sessions with unfinished work"},
		Param{"missions", "boolean", "only sessions of missions"},
		Param{"asking", "boolean", "only sessions with an open question or permission prompt, subagents included"},
		Param{"before", "date-time", "only sessions updated before this time"},
		Param{"limit", "integer", "maximum number of sessions: default 100, at most 1000"}),
	one[Empty, pawl.Session]("importSession", "POST", "/v1/sessions/import", "Import the conversation of a session that exportSession exported.", ScopeRun,
		Param{"id", "string", "the ID of the new session; the exported one if omitted"},
		Param{"dir", "string", "the absolute path of the workspace; a fleet creates one if omitted"},
		Param{"workspace", "string", "a named workspace of the tenant, instead of dir; fleet only"}).with(func(r *Route) {
		r.InForm, r.In, r.MaxBody, r.Status = FormLines, typeOf[pawl.Event](), maxImport, http.StatusCreated
	}),
	one[Empty, pawl.Session]("getSession", "GET", session, "Get a session.", ScopeRead),
	one[Title, Empty]("renameSession", "PATCH", session, "Rename a session.", ScopeRun),
	one[Shared, Empty]("shareSession", "PUT", session+"/shared", "Set the users who may read the session besides its owner.", ScopeRun),
	one[Empty, Empty]("deleteSession", "DELETE", session, "Delete a session and all of its data.", ScopeRun),
	one[Empty, Empty]("streamEvents", "GET", session+"/events", "Stream the events of a session, first the past ones, then new ones.", ScopeRead, after).with(stream[pawl.Event]),
	one[Empty, Empty]("exportSession", "GET", session+"/log", "Export the events of a session, one per line.", ScopeRead, after).with(func(r *Route) {
		r.OutForm, r.Out, r.Status = FormLines, typeOf[pawl.Event](), http.StatusOK
	}),
	one[Empty, Items]("listItems", "GET", session+"/items", "List the newest items of a session's transcript: messages, tool calls, questions, notes.", ScopeRead,
		Param{"before", "string", "only items before the one with this ID, for paging"},
		Param{"limit", "integer", "maximum number of items: default 50, at most 500"}),
	one[Empty, transcript.Item]("getItem", "GET", session+"/items/{item}", "Get an item with its whole texts.", ScopeRead),
	one[Empty, Empty]("streamItems", "GET", session+"/items/stream", "Stream the newest items of a session, then what changes.", ScopeRead,
		Param{"after", "integer", "only what has changed after this event"},
		Param{"limit", "integer", "maximum number of items to begin with: default 50, at most 500"}).with(stream[ItemChange]),
	one[Empty, pawl.Draft]("getDraft", "GET", session+"/draft", "Get the part of the current reply that has been written so far.", ScopeRead),
	one[Prompt, Accepted]("sendPrompt", "POST", session+"/prompts", "Send a prompt.", ScopeRun).with(accepted).with(large),
	one[Empty, WaitingList]("listPrompts", "GET", session+"/prompts", "List the waiting prompts, oldest first.", ScopeRead),
	one[Parts, Empty]("rewordPrompt", "PUT", session+"/prompts/{seq}", "Replace the text of a waiting prompt.", ScopeRun).with(large),
	one[Empty, Empty]("withdrawPrompt", "DELETE", session+"/prompts/{seq}", "Withdraw a waiting prompt.", ScopeRun),
	one[Empty, Empty]("streamFeed", "GET", "/v1/events", "Stream changes of sessions and of open questions and permission prompts.", ScopeRead,
		Param{"after", "string", "only changes after this message"}).with(stream[FeedChange]),
	one[Empty, Asks]("listAsks", "GET", "/v1/asks", "List the questions and permission prompts without an answer.", ScopeRead,
		Param{"session", "string", "only those of this session and its subagents"}),
	one[pawl.Answer, Empty]("answer", "POST", session+"/asks/{seq}/answer", "Answer a question or permission prompt. The number is that of its event.", ScopeRun),
	one[Empty, Empty]("cancelSession", "POST", session+"/cancel", "Cancel the open turn and all requests accepted before.", ScopeRun),
	one[Empty, Empty]("resumeSession", "POST", session+"/resume", "Resume an interrupted session.", ScopeRun),
	one[Instructions, Accepted]("compactSession", "POST", session+"/compact", "Compact the conversation.", ScopeRun).with(accepted),
	one[Shell, Accepted]("runCommand", "POST", session+"/shell", "Run a shell command of the user in the working directory.", ScopeRun).with(accepted),
	one[pawl.Undo, pawl.UndoPlan]("previewUndo", "POST", session+"/undo/preview", "Preview an undo or redo.", ScopeRead),
	one[pawl.Undo, Accepted]("undoSession", "POST", session+"/undo", "Undo everything since a message, or redo it.", ScopeRun).with(accepted),
	one[Empty, pawl.Diff]("getDiff", "GET", session+"/diff", "Get what a session changed in files.", ScopeRead,
		Param{"turn", "integer", "only the changes of this turn, from 1"},
		Param{"working_tree", "boolean", "instead: the uncommitted changes in the working directory, whoever made them"},
		Param{"path", "string", "only this file, with a higher limit"}),
	one[Empty, Listing]("listDirectory", "GET", session+"/files", "List a directory of a session.", ScopeRead,
		Param{"path", "string", "relative to the working directory, which is the default; absolute in an added directory"}),
	one[Empty, Empty]("readFile", "GET", session+"/file", "Read a file of a session, or a part of it.", ScopeRead,
		Param{"path", "string", "relative to the working directory; absolute in an added directory"},
		Param{"offset", "integer", "the first byte, from 0"},
		Param{"length", "integer", "maximum number of bytes: default and at most 1 MiB"}).with(func(r *Route) {
		r.OutForm, r.Status, r.Others = FormBytes, http.StatusOK, []Form{"text/plain", "image/png", "image/jpeg", "image/gif", "image/webp"}
	}),
	one[Fork, pawl.Session]("forkSession", "POST", session+"/fork", "Fork a session.", ScopeRun).with(created),
	one[pawl.NewMission, pawl.Session]("startMission", "POST", "/v1/missions", "Start a mission: a session that runs a team of agents until a goal is verified.", ScopeRun).with(created),
	one[Empty, pawl.Board]("getMission", "GET", session+"/mission", "Get the state of a mission.", ScopeRead),
	one[Empty, Empty]("streamMission", "GET", session+"/mission/stream", "Stream the state of a mission, and again after each change.", ScopeRead).with(stream[pawl.Board]),
	one[Empty, Empty]("getMissionReport", "GET", session+"/mission/report", "Get the report of a mission, with the evidence.", ScopeRead,
		Param{"format", "string", "json (default), html, markdown or intoto"}).with(func(r *Route) {
		r.OutForm, r.Status, r.Others = FormJSON, http.StatusOK, []Form{FormHTML, FormMarkdown, FormStatement}
	}),
	one[Empty, MissionGate]("getMissionGate", "GET", session+"/mission/gate", "Get the results of a mission's gate: checks and reviews of each round.", ScopeRead),
	one[Empty, MissionPlan]("getMissionPlan", "GET", session+"/mission/plan", "Get the plan of a mission, with edits.", ScopeRead),
	one[PlanEdit, MissionPlan]("setMissionPlan", "PUT", session+"/mission/plan", "Edit the plan of a mission.", ScopeRun),
	one[PlanApproval, Accepted]("approveMission", "POST", session+"/mission/approve", "Approve the plan of a mission and start the work.", ScopeApprove).with(accepted),
	one[Empty, Empty]("pauseMission", "POST", session+"/mission/pause", "Pause a mission when its workers have finished.", ScopeRun),
	one[Empty, Empty]("stopMission", "POST", session+"/mission/stop", "Stop a mission now.", ScopeRun),
	one[MissionResume, Empty]("resumeMission", "POST", session+"/mission/resume", "Resume a mission.", ScopeRun),
	one[Empty, Usage]("getUsage", "GET", "/v1/usage", "Get token usage and cost by session, day, model and agent.", ScopeRead,
		Param{"since", "date-time", "only usage since this day"},
		Param{"session", "string", "only usage of this session and its subagents"},
		Param{"dir", "string", "only usage of sessions in this directory"},
		Param{"owner", "string", "only usage of sessions of this user"}),
	one[Empty, pawl.Project]("getProject", "GET", "/v1/project", "Get the settings, agents, commands, skills and MCP servers of a project.", ScopeRead, projectDir),
	one[Trust, Empty]("trustProject", "POST", "/v1/project/trust", "Trust the configuration of a project.", ScopeAdmin),
	one[Empty, Files]("findFiles", "GET", "/v1/files", "Find files of a project by fuzzy search.", ScopeRead, projectDir,
		Param{"query", "string", "letters of the path"}, Param{"limit", "integer", "maximum number of files: default 50"}),
	one[Expand, Expanded]("expandPrompt", "POST", "/v1/expand", "Expand the commands and mentions of a prompt.", ScopeRun).with(large),
	one[Empty, Info]("getInfo", "GET", "/v1/info", "Get the version of the server, and who the token is for.", ScopeRead),
	one[Empty, Models]("listModels", "GET", "/v1/models", "List the available models.", ScopeRead),
	one[NewLink, Link]("createLink", "POST", "/v1/devices/links", "Create a link that signs a browser in, once.", ScopeRun).with(created),
	one[Empty, PasskeyOptions]("createPasskeyOptions", "POST", "/v1/passkeys/options", "Start to create a passkey.", ScopeRun),
	one[NewPasskey, Device]("createPasskey", "POST", "/v1/passkeys", "Add a passkey, which signs browsers in.", ScopeRun).with(created),
	one[Empty, Devices]("listDevices", "GET", "/v1/devices", "List the browsers that are signed in, and the passkeys.", ScopeRead),
	one[Empty, Empty]("revokeDevice", "DELETE", "/v1/devices/{device}", "Sign a browser out, or revoke a passkey.", ScopeRun),
	one[Empty, Empty]("getOutput", "GET", session+"/outputs/{blob}", "Get a large output that is stored outside of the log.", ScopeRead).with(func(r *Route) {
		r.OutForm, r.Status = FormBytes, http.StatusOK
	}),
	one[Empty, Empty]("getOpenAPI", "GET", "/v1/openapi.json", "Get this OpenAPI document.", ScopeRead).with(func(r *Route) {
		r.OutForm, r.Status = FormJSON, http.StatusOK
	}),
}
