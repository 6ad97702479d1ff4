package acp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// failure converts an error for the editor, with its message and code. nil stays nil.
func (w *connection) failure(err error) *sdk.RequestError {
	if err == nil {
		return nil
	}
	if as := (*sdk.RequestError)(nil); errors.As(err, &as) {
		return as
	}
	code := pawl.CodeOf(err)
	number := codeInternal
	switch code {
	case pawl.CodeInvalid:
		number = codeInvalidParams
	case pawl.CodeNotFound:
		number = codeNotFound
	default: // an internal error for the editor
	}
	if errors.As(err, &loginError{}) && w.canLogin.Load() {
		number = codeAuthRequired
	}
	return &sdk.RequestError{Code: number, Message: fault.Text(err), Data: map[string]any{"code": string(code)}}
}

// stopReason converts the reason of a turn's end. A failure is returned as an error,
// so that the editor shows it.
func stopReason(f pawl.TurnFinished) (sdk.StopReason, error) {
	switch f.Reason {
	case pawl.ReasonEndTurn, pawl.ReasonPermissionDenied:
		return sdk.StopReasonEndTurn, nil
	case pawl.ReasonMaxTokens:
		return sdk.StopReasonMaxTokens, nil
	case pawl.ReasonMaxSteps, pawl.ReasonBudget, pawl.ReasonLoop:
		return sdk.StopReasonMaxTurnRequests, nil
	case pawl.ReasonCanceled:
		return sdk.StopReasonCancelled, nil
	}
	if f.Fault == pawl.FaultModel && strings.HasPrefix(f.Message, string(pawl.ErrorRefused)+": ") {
		return sdk.StopReasonRefusal, nil
	}
	if f.Fault == pawl.FaultModel {
		return "", fmt.Errorf("the model failed: %s. The session is saved: send a prompt to continue, or choose another model", f.Message)
	}
	return "", fmt.Errorf("the turn failed: %s. The session is saved: send a prompt to continue", f.Message)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// toServers converts the MCP servers of the editor. Unsupported ones are kept, so that
// the user learns about them.
func toServers(list []sdk.McpServer) []Server {
	servers := []Server{}
	for _, s := range list {
		switch {
		case s.Stdio != nil:
			env := map[string]string{}
			for _, v := range s.Stdio.Env {
				env[v.Name] = v.Value
			}
			servers = append(servers, Server{Name: s.Stdio.Name, Transport: "stdio", Command: s.Stdio.Command, Args: s.Stdio.Args, Env: env})
		case s.Http != nil:
			servers = append(servers, Server{Name: s.Http.Name, Transport: "http", URL: s.Http.Url, Headers: toHeaders(s.Http.Headers)})
		case s.Sse != nil:
			servers = append(servers, Server{Name: s.Sse.Name, Transport: "sse", URL: s.Sse.Url, Headers: toHeaders(s.Sse.Headers)})
		case s.Acp != nil:
			servers = append(servers, Server{Name: s.Acp.Name, Transport: "acp"})
		}
	}
	return servers
}

func toHeaders(list []sdk.HttpHeader) map[string]string {
	headers := map[string]string{}
	for _, h := range list {
		headers[h.Name] = h.Value
	}
	return headers
}

// blocks converts the content blocks of a prompt. Unsupported ones get empty data, so
// that attachment rejects them.
func blocks(list []sdk.ContentBlock) []block {
	var all []block
	for _, b := range list {
		switch {
		case b.Text != nil:
			all = append(all, block{text: b.Text.Text})
		case b.Image != nil:
			all = append(all, block{media: b.Image.MimeType, data: decodeBase64(b.Image.Data)})
		case b.ResourceLink != nil:
			all = append(all, block{uri: b.ResourceLink.Uri, name: b.ResourceLink.Name})
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			all = append(all, block{uri: r.Uri, text: r.Text, inner: true})
		case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil:
			r := b.Resource.Resource.BlobResourceContents
			all = append(all, block{uri: r.Uri, media: deref(r.MimeType), data: decodeBase64(r.Blob)})
		case b.Audio != nil:
			all = append(all, block{media: b.Audio.MimeType, data: []byte{}})
		}
	}
	return all
}

// decodeBase64 decodes data; invalid data becomes empty.
func decodeBase64(data string) []byte {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return []byte{}
	}
	return b
}

// toUpdate converts an update to its JSON form.
func toUpdate(u update) any {
	switch u := u.(type) {
	case messageChunk:
		return message(u)
	case callStarted:
		return sdk.SessionUpdate{ToolCall: &sdk.SessionUpdateToolCall{
			ToolCallId: sdk.ToolCallId(u.id), Title: u.title, Kind: sdk.ToolKind(u.kind), Status: sdk.ToolCallStatus(u.status),
			Content: contents(u.content), Locations: locations(u.locations), RawInput: raw(u.input),
		}}
	case callUpdated:
		return sdk.SessionUpdate{ToolCallUpdate: &sdk.SessionToolCallUpdate{
			ToolCallId: sdk.ToolCallId(u.id), Status: optional(sdk.ToolCallStatus(u.status)), Content: contents(u.content), Locations: locations(u.locations),
		}}
	case planUpdated:
		return sdk.SessionUpdate{Plan: plan(u.todos)}
	case modeSet:
		return sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{CurrentModeId: sdk.SessionModeId(u.mode)}}
	case optionsUpdated:
		return optionsUpdate{"config_option_update", u.options}
	case usageUpdated:
		return sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{
			Used: int(u.used), Size: int(u.size), Cost: &sdk.Cost{Amount: u.cost.Dollars(), Currency: "USD"},
		}}
	case titleUpdated:
		return sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{Title: sdk.Ptr(line(u.title))}}
	case commandsUpdated:
		list := []sdk.AvailableCommand{}
		for _, c := range u.commands {
			offer := sdk.AvailableCommand{Name: c.Name, Description: c.Description}
			if c.Hint != "" {
				offer.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: c.Hint}}
			}
			list = append(list, offer)
		}
		return sdk.SessionUpdate{AvailableCommandsUpdate: &sdk.SessionAvailableCommandsUpdate{AvailableCommands: list}}
	}
	return nil
}

func message(s messageChunk) sdk.SessionUpdate {
	block := sdk.TextBlock(s.text)
	if len(s.file.Data) > 0 && strings.HasPrefix(s.file.MediaType, "image/") {
		block = sdk.ImageBlock(base64.StdEncoding.EncodeToString(s.file.Data), s.file.MediaType)
	}
	switch s.role {
	case roleUser:
		return sdk.SessionUpdate{UserMessageChunk: &sdk.SessionUpdateUserMessageChunk{Content: block, MessageId: optional(s.id)}}
	case roleAgent:
		return sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{Content: block, MessageId: optional(s.id)}}
	default:
		return sdk.SessionUpdate{AgentThoughtChunk: &sdk.SessionUpdateAgentThoughtChunk{Content: block, MessageId: optional(s.id)}}
	}
}

// plan converts the todo list, without canceled items.
func plan(todos []pawl.Todo) *sdk.SessionUpdatePlan {
	p := &sdk.SessionUpdatePlan{Entries: []sdk.PlanEntry{}}
	for _, t := range todos {
		if t.Status != pawl.TodoCanceled {
			p.Entries = append(p.Entries, sdk.PlanEntry{Content: t.Content, Status: sdk.PlanEntryStatus(t.Status), Priority: sdk.PlanEntryPriority(t.Priority)})
		}
	}
	return p
}

func contents(list []content) []sdk.ToolCallContent {
	var all []sdk.ToolCallContent
	for _, c := range list {
		if c.change == nil {
			all = append(all, sdk.ToolContent(sdk.TextBlock(c.text)))
		} else {
			all = append(all, sdk.ToolCallContent{Diff: &sdk.ToolCallContentDiff{Path: c.change.path, OldText: c.change.old, NewText: c.change.new}})
		}
	}
	return all
}

func locations(list []location) []sdk.ToolCallLocation {
	var all []sdk.ToolCallLocation
	for _, p := range list {
		all = append(all, sdk.ToolCallLocation{Path: p.path, Line: optional(p.line)})
	}
	return all
}

// optional returns nil for the zero value.
func optional[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

func raw(input json.RawMessage) any {
	if input == nil {
		return nil
	}
	return input
}
