package api

import (
	"net/http"
	"reflect"

	"github.com/pawl-dev/pawl"
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
	maxImport = 1 << 30  // whole logs, read line by line
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

const session = "/v1/sessions/{id}"

var folder = Param{"dir", "string", "the folder, absolute"}

var after = Param{"after", "integer", "only events with a greater number"}

// Routes lists all routes, in the order of the documentation.
var Routes = []Route{
	one[NewSession, pawl.Session]("createSession", "POST", "/v1/sessions", "Make an empty session.", ScopeRun).with(created),
	one[Empty, Sessions]("listSessions", "GET", "/v1/sessions", "List sessions, the latest updated first.", ScopeRead,
		Param{"query", "string", "words that begin words of the title or the first prompt"},
		Param{"dir", "string", "of this workspace only"},
		Param{"parent", "string", "children of this session; left out, sessions that have no parent"},
		Param{"owner", "string", "of this user only"},
		Param{"shared", "boolean", "with owner: and those that others share with this user"},
		Param{"unfinished", "boolean", "only those that have work"},
		Param{"missions", "boolean", "only those that command a mission"},
		Param{"before", "date-time", "updated before this time: the next page"},
		Param{"limit", "integer", "at most so many: 100 if left out, 1000 at most"}),
	one[Empty, pawl.Session]("importSession", "POST", "/v1/sessions/import", "Make a session from events, as exportSession gives them.", ScopeRun).with(func(r *Route) {
		r.InForm, r.In, r.MaxBody, r.Status = FormLines, typeOf[pawl.Event](), maxImport, http.StatusCreated
	}),
	one[Empty, pawl.Session]("getSession", "GET", session, "Get one session.", ScopeRead),
	one[Title, Empty]("renameSession", "PATCH", session, "Give the session another title.", ScopeRun),
	one[Shared, Empty]("shareSession", "PUT", session+"/shared", "Say who may read the session beside its owner: these and no others.", ScopeRun),
	one[Empty, Empty]("deleteSession", "DELETE", session, "Remove a session and all that belongs to it.", ScopeRun),
	one[Empty, Empty]("streamEvents", "GET", session+"/events", "Watch: what happened, then what happens. Each event of the log has its number as its id; after a break, Last-Event-ID goes on from there.", ScopeRead, after).with(func(r *Route) {
		r.OutForm, r.Out, r.Status = FormStream, typeOf[pawl.Event](), http.StatusOK
	}),
	one[Empty, Empty]("exportSession", "GET", session+"/log", "Get the events that there are now, one a line.", ScopeRead, after).with(func(r *Route) {
		r.OutForm, r.Out, r.Status = FormLines, typeOf[pawl.Event](), http.StatusOK
	}),
	one[Empty, pawl.Draft]("getDraft", "GET", session+"/draft", "Get what has come so far of the reply that is being written.", ScopeRead),
	one[Prompt, Accepted]("sendPrompt", "POST", session+"/prompts", "Give the session a prompt.", ScopeRun).with(accepted).with(large),
	one[Empty, WaitingList]("listPrompts", "GET", session+"/prompts", "List the prompts that wait, the oldest first.", ScopeRead),
	one[Parts, Empty]("rewordPrompt", "PUT", session+"/prompts/{seq}", "Replace the words of a prompt that waits.", ScopeRun).with(large),
	one[Empty, Empty]("withdrawPrompt", "DELETE", session+"/prompts/{seq}", "Take back a prompt that waits.", ScopeRun),
	one[pawl.Answer, Empty]("answer", "POST", session+"/asks/{seq}/answer", "Answer what the session asks; the number is of its event.", ScopeRun),
	one[Empty, Empty]("cancelSession", "POST", session+"/cancel", "End the open turn and what was accepted before this.", ScopeRun),
	one[Empty, Empty]("resumeSession", "POST", session+"/resume", "Go on with a session that was interrupted.", ScopeRun),
	one[Instructions, Accepted]("compactSession", "POST", session+"/compact", "Make the conversation smaller.", ScopeRun).with(accepted),
	one[Shell, Accepted]("runCommand", "POST", session+"/shell", "Run a command of the person's in the session's folder.", ScopeRun).with(accepted),
	one[pawl.Undo, pawl.UndoPlan]("previewUndo", "POST", session+"/undo/preview", "See what going back would do.", ScopeRead),
	one[pawl.Undo, Accepted]("undoSession", "POST", session+"/undo", "Go back to before a message, or forward again.", ScopeRun).with(accepted),
	one[Fork, pawl.Session]("forkSession", "POST", session+"/fork", "Make a session that begins as this one was.", ScopeRun).with(created),
	one[pawl.NewMission, pawl.Session]("startMission", "POST", "/v1/missions", "Begin a mission: a session that works toward a goal until it is proven to be reached.", ScopeRun).with(created),
	one[Empty, pawl.Board]("getMission", "GET", session+"/mission", "Get all that can be seen of the mission that a session commands.", ScopeRead),
	one[Empty, Usage]("getUsage", "GET", "/v1/usage", "Get what was used, by session, day, model and agent.", ScopeRead,
		Param{"since", "date-time", "from this day on"},
		Param{"session", "string", "of this session and those below it"},
		Param{"dir", "string", "of the sessions of this workspace"},
		Param{"owner", "string", "of the sessions of this user"}),
	one[Empty, pawl.Project]("lookAtFolder", "GET", "/v1/folder", "See what sessions in a folder have to work with.", ScopeRead, folder),
	one[Trust, Empty]("trustFolder", "POST", "/v1/folder/trust", "Let what a folder brings take effect.", ScopeAdmin),
	one[Empty, Files]("findFiles", "GET", "/v1/files", "Find files of a folder by letters of their paths.", ScopeRead, folder,
		Param{"query", "string", "the letters"}, Param{"limit", "integer", "at most so many: 50 if left out"}),
	one[Expand, Expanded]("expandPrompt", "POST", "/v1/expand", "See what the commands and mentions of a prompt stand for.", ScopeRun).with(large),
	one[Empty, Models]("listModels", "GET", "/v1/models", "List the models that can be asked.", ScopeRead),
	one[Empty, Empty]("getOutput", "GET", session+"/outputs/{blob}", "Get an output that is kept beside the log.", ScopeRead).with(func(r *Route) {
		r.OutForm, r.Status = FormBytes, http.StatusOK
	}),
	one[Empty, Empty]("getOpenAPI", "GET", "/v1/openapi.json", "Get the description of this interface.", ScopeRead).with(func(r *Route) {
		r.OutForm, r.Status = FormJSON, http.StatusOK
	}),
}
