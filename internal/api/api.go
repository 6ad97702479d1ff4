// Package api defines the HTTP interface: routes, request and response bodies, and
// errors. The server, the client and the OpenAPI document are built from it.
package api

import (
	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Scope is what a token allows. Each scope includes the ones before it.
type Scope string

// The scopes.
const (
	ScopeNone  Scope = ""      // for routes that need no token
	ScopeRead  Scope = "read"  // read sessions
	ScopeRun   Scope = "run"   // send prompts and answer questions
	ScopeAdmin Scope = "admin" // what only the operator of the server may do: trust a project, run without permission prompts
)

// Covers reports whether scope s includes the needed one. Unknown scopes include
// nothing.
func (s Scope) Covers(needed Scope) bool {
	rank := map[Scope]int{ScopeNone: 0, ScopeRead: 1, ScopeRun: 2, ScopeAdmin: 3}
	have, known := rank[s]
	need, knownToo := rank[needed]
	return known && knownToo && have >= need
}

// Principal is the authenticated caller of a request.
type Principal struct {
	Tenant store.Tenant // the only tenant whose data the caller can reach
	User   pawl.User    // "" is the operator of the server, or a token for all sessions of the tenant
	Token  string       // token ID for the log; "" if no token was needed
	Scope  Scope
	Limits store.Limits // of the token
	Shared store.Limits // of the tenant: all its users together
}

// NewSession is the body of createSession.
type NewSession struct {
	ID  pawl.SessionID `json:"id,omitempty"`  // a ULID; left out, a new one
	Dir string         `json:"dir,omitempty"` // the workspace, absolute; a fleet makes one for a session that names none

	Workspace string `json:"workspace,omitempty"` // instead of dir: a workspace by its name, below the tenant's; only a fleet takes one

	Source string         `json:"source,omitempty"` // a repository that the workspace begins as; only a fleet takes one
	Title  string         `json:"title,omitempty"`
	Owner  pawl.User      `json:"owner,omitempty"` // whose it is to be: for who may see the sessions of all
	Parent pawl.SessionID `json:"parent,omitempty"`
	Call   pawl.CallID    `json:"parent_call,omitempty"`
}

// Sessions is what listSessions returns.
type Sessions struct {
	Sessions []pawl.Session `json:"sessions"`
}

// Title is the body of renameSession.
type Title struct {
	Title string `json:"title"`
}

// Shared is the body of shareSession.
type Shared struct {
	With []pawl.User `json:"with"` // these and no others
}

// Prompt is the body of sendPrompt.
type Prompt struct {
	Parts    pawl.Parts    `json:"parts"`
	Delivery pawl.Delivery `json:"delivery,omitempty"` // while a turn is open: refused if left out, else queue or steer
	pawl.Settings
}

// Parts is the body of rewordPrompt.
type Parts struct {
	Parts pawl.Parts `json:"parts"`
}

// Accepted is what an order returns: the number of its event. From then on a
// crash does not lose it.
type Accepted struct {
	Seq pawl.Seq `json:"seq"`
}

// Waiting is a prompt that was accepted and not yet taken in.
type Waiting struct {
	Seq    pawl.Seq      `json:"seq"`
	Prompt pawl.Prompted `json:"prompt"`
}

// WaitingList is what listPrompts returns.
type WaitingList struct {
	Prompts []Waiting `json:"prompts"`
}

// Instructions is the body of compactSession.
type Instructions struct {
	Instructions string `json:"instructions,omitempty"` // what matters
}

// Shell is the body of runCommand.
type Shell struct {
	Command string `json:"command"` // the command line
}

// Fork is the body of forkSession.
type Fork struct {
	At pawl.Seq `json:"at,omitempty"` // before this message; left out, all of it
}

// Usage is what getUsage returns.
type Usage struct {
	Rows []pawl.UsageRow `json:"rows"`
}

// Fault is how an error is reported.
type Fault struct {
	Error FaultBody `json:"error"`
}

// FaultBody says what is wrong, for scripts and for people.
type FaultBody struct {
	Code    pawl.Code `json:"code"`
	Message string    `json:"message"`
	Holder  string    `json:"holder,omitempty"`     // of a busy session: who works on it
	Request string    `json:"request_id,omitempty"` // to be found in the server's log
}

// Empty is what a route returns that has nothing to say.
type Empty struct{}

// Trust is the body of trustFolder.
type Trust struct {
	Dir  string `json:"dir"`
	Hash string `json:"hash"` // of what lookAtFolder has shown
}

// Models is what listModels returns.
type Models struct {
	Models []pawl.ModelInfo `json:"models"`
}

// Files is what findFiles returns.
type Files struct {
	Files []string `json:"files"`
}

// Expand is the body of expandPrompt, and Expanded what it returns.
type Expand struct {
	Dir    string `json:"dir"`
	Prompt Prompt `json:"prompt"`
}

// Expanded is a prompt whose words were replaced by what they stand for.
type Expanded struct {
	Prompt Prompt   `json:"prompt"`
	Notes  []string `json:"notes"`
}
