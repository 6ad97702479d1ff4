// Package api defines the HTTP interface: routes, request and response bodies, and
// errors. The server, the client and the OpenAPI document are built from it.
package api

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Scope is what a token allows. Each scope includes the ones before it.
type Scope string

// The scopes.
const (
	ScopeNone    Scope = ""        // for routes that need no token
	ScopeRead    Scope = "read"    // read sessions
	ScopeRun     Scope = "run"     // send prompts, in modes that ask before anything leaves the sandbox
	ScopeApprove Scope = "approve" // allow what leaves the sandbox, use mode auto
	ScopeAdmin   Scope = "admin"   // what only the operator of the server may do: trust a project, run without permission prompts
)

// Covers reports whether scope s includes the needed one. Unknown scopes include
// nothing.
func (s Scope) Covers(needed Scope) bool {
	rank := map[Scope]int{ScopeNone: 0, ScopeRead: 1, ScopeRun: 2, ScopeApprove: 3, ScopeAdmin: 4}
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

	Family string // of a device: the token that it was signed in with, whose limits it shares; "" means none
	Device bool   // the token is that of a browser
}

// LimitKey identifies what the limits of the token count for: the token and the devices that were
// signed in with it.
func (p Principal) LimitKey() string { return cmp.Or(p.Family, p.Token) }

// NewSession is the body of createSession.
type NewSession struct {
	ID  pawl.SessionID `json:"id,omitempty"`  // a ULID; generated if omitted
	Dir string         `json:"dir,omitempty"` // the absolute path of the workspace; a fleet creates one if omitted

	Workspace string `json:"workspace,omitempty"` // a named workspace of the tenant, instead of dir; fleet only

	Source string         `json:"source,omitempty"` // the repository that a new workspace is cloned from; fleet only
	Title  string         `json:"title,omitempty"`
	Owner  pawl.User      `json:"owner,omitempty"` // the owner; only callers that can see all sessions may set it
	Parent pawl.SessionID `json:"parent,omitempty"`
	Call   pawl.CallID    `json:"parent_call,omitempty"`
}

// Items is the response of listItems.
type Items struct {
	Items []transcript.Item `json:"items"` // oldest first
	More  bool              `json:"more"`  // there are older ones
}

// ItemChange is a message of streamItems.
type ItemChange struct {
	transcript.Change
	Reset bool `json:"reset,omitempty"` // forget all items: these are the newest
	More  bool `json:"more,omitempty"`  // with reset: there are older ones
}

// FeedChange is a message of streamFeed.
type FeedChange struct {
	Reset    bool             `json:"reset,omitempty"`    // forget all sessions and asks: these are the newest
	Sessions []pawl.Session   `json:"sessions,omitempty"` // new and changed ones
	Deleted  []pawl.SessionID `json:"deleted,omitempty"`
	Asks     []OpenAsk        `json:"asks,omitempty"`   // new ones
	Closed   []AskRef         `json:"closed,omitempty"` // asks that were answered, or need no answer any more
}

// Asks is the response of listAsks.
type Asks struct {
	Asks []OpenAsk `json:"asks"`
}

// OpenAsk is a question or permission prompt without an answer.
type OpenAsk struct {
	Session pawl.SessionID  `json:"session"` // to answer in
	Root    pawl.SessionID  `json:"root"`    // the session of the user that it belongs to: another one if a subagent asks
	Name    string          `json:"name"`    // of the root session
	Dir     string          `json:"dir"`
	Item    transcript.Item `json:"item"`
}

// AskRef identifies an ask.
type AskRef struct {
	Session pawl.SessionID `json:"session"`
	Seq     pawl.Seq       `json:"seq"`
}

// Info is the response of getInfo.
type Info struct {
	Version string    `json:"version"`         // of the server
	User    pawl.User `json:"user,omitempty"`  // the user of the token; "" can see all sessions
	Scope   Scope     `json:"scope"`           // of the token
	Token   string    `json:"token,omitempty"` // its ID
}

// Title is the body of renameSession.
type Title struct {
	Title string `json:"title"`
}

// Shared is the body of shareSession.
type Shared struct {
	With []pawl.User `json:"with"` // the users who may read the session; replaces the previous list
}

// Prompt is the body of sendPrompt.
type Prompt struct {
	Parts    pawl.Parts    `json:"parts"`
	Delivery pawl.Delivery `json:"delivery,omitempty"` // what to do while a turn is open: queue or steer; without it the request fails with busy
	pawl.Settings

	Comments []Comment `json:"comments,omitempty"` // comments on lines of files, added to the parts as text; at most 100

	Approve *pawl.Plan `json:"approve,omitempty"` // of a mission: the plan to approve, so that its tasks start; needs the scope approve
	Pause   bool       `json:"pause,omitempty"`   // of a running mission: start no more workers; the next prompt continues it
}

// Parts is the body of rewordPrompt.
type Parts struct {
	Parts pawl.Parts `json:"parts"`
}

// Accepted has the number of the event that recorded a request. The request is
// durable from then on.
type Accepted struct {
	Seq pawl.Seq `json:"seq"`
}

// Waiting is a prompt that was accepted and not yet processed.
type Waiting struct {
	Seq    pawl.Seq      `json:"seq"`
	Prompt pawl.Prompted `json:"prompt"`
}

// WaitingList is the response of listPrompts.
type WaitingList struct {
	Prompts []Waiting `json:"prompts"`
}

// Instructions is the body of compactSession.
type Instructions struct {
	Instructions string `json:"instructions,omitempty"` // what the summary must keep
}

// Shell is the body of runCommand.
type Shell struct {
	Command string `json:"command"` // the shell command
}

// Fork is the body of forkSession.
type Fork struct {
	At pawl.Seq `json:"at,omitempty"` // fork before this message; the whole session if omitted
}

// Usage is the response of getUsage.
type Usage struct {
	Rows []pawl.UsageRow `json:"rows"`
}

// Fault is the body of an error response.
type Fault struct {
	Error FaultBody `json:"error"`
}

// FaultBody has the code of an error, for programs, and its message, for people.
type FaultBody struct {
	Code    pawl.Code `json:"code"`
	Message string    `json:"message"`
	Holder  string    `json:"holder,omitempty"`     // the process that works on a busy session
	Request string    `json:"request_id,omitempty"` // identifies the request in the server's log
}

// Empty is the response of routes that return nothing.
type Empty struct{}

// Trust is the body of trustProject.
type Trust struct {
	Dir  string `json:"dir"`
	Hash string `json:"hash"` // the trust hash that getProject returned
}

// Models is the response of listModels.
type Models struct {
	Models []pawl.ModelInfo `json:"models"`
}

// Files is the response of findFiles.
type Files struct {
	Files []string `json:"files"`
}

// Listing is the response of listDirectory.
type Listing struct {
	Entries []pawl.FileInfo `json:"entries"` // sorted by name
	More    bool            `json:"more"`    // there are more entries than are returned
}

// FileSizeHeader is the response header of readFile with the size of the whole file.
const FileSizeHeader = "X-File-Size"

// Expand is the body of expandPrompt.
type Expand struct {
	Dir    string `json:"dir"`
	Prompt Prompt `json:"prompt"`
}

// Expanded is a prompt whose commands and mentions were expanded.
type Expanded struct {
	Prompt Prompt   `json:"prompt"`
	Notes  []string `json:"notes"`
}

// NewLink is the body of createLink.
type NewLink struct {
	Name  string `json:"name,omitempty"`  // the name of the device; generated if omitted
	Scope Scope  `json:"scope,omitempty"` // at most that of the caller, which is the default
}

// Link is a link that signs a browser in.
type Link struct {
	ID      string    `json:"id"`  // the ID of the device that it signs in
	URL     string    `json:"url"` // valid once
	Expires time.Time `json:"expires"`
}

// NewPasskey is the body of createPasskey.
type NewPasskey struct {
	Name       string          `json:"name,omitempty"` // generated if omitted
	Credential json.RawMessage `json:"credential"`     // what the browser created, as PublicKeyCredential.toJSON returns it
}

// PasskeyOptions is the response of createPasskeyOptions.
type PasskeyOptions struct {
	PublicKey json.RawMessage `json:"publicKey"` // for PublicKeyCredential.parseCreationOptionsFromJSON
}

// Devices is the response of listDevices.
type Devices struct {
	Devices  []Device `json:"devices"`  // newest first
	Passkeys []Device `json:"passkeys"` // newest first
}

// Device is a browser that is signed in, or a passkey that signs browsers in.
type Device struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	User    pawl.User `json:"user,omitempty"` // "" has access to all sessions
	Scope   Scope     `json:"scope"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero"` // last use, within a minute
	Current bool      `json:"current"`       // the request comes from this device
}
