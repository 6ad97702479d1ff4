package subagents

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// Job is a background command as the log shows it: what the model saw when it last
// looked. Jobs end with the process that runs them.
type Job struct {
	ID      string
	Command string
	Began   time.Time
	Seen    time.Time // when the model last looked
	Over    bool
	State   string // of a finished job
	Last    string // the last line of its output
}

// jobs are the background commands of a session.
type jobs struct {
	list  []*Job // oldest first
	calls map[pawl.CallID]*Job
}

// maxJobs bounds how many are kept.
const maxJobs = 50

// take applies an event of the session.
func (j *jobs) take(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Replied:
		for _, p := range b.Parts {
			if c, ok := p.(pawl.ToolCall); ok && c.Name == "bash" {
				j.call(c.ID, c.Input, e.At)
			}
		}
	case pawl.CallStarted:
		if b.Tool == "bash" && len(b.Input) > 0 {
			j.call(b.Call, b.Input, e.At)
		}
	case pawl.CallFinished:
		j.finished(b, e.At)
	case pawl.TurnFinished:
		j.calls = nil
	default:
	}
}

// call remembers the command of a call, which may become a job.
func (j *jobs) call(id pawl.CallID, input json.RawMessage, at time.Time) {
	var in struct{ Command string }
	if json.Unmarshal(input, &in) != nil {
		return // the tool reports the error
	}
	if j.calls == nil {
		j.calls = map[pawl.CallID]*Job{}
	}
	j.calls[id] = &Job{Command: in.Command, Began: at}
}

// finished applies the result that the model got about a job.
func (j *jobs) finished(b pawl.CallFinished, at time.Time) {
	meta := b.Result.Meta
	id := meta["job"]
	if id == "" {
		return
	}
	job := j.calls[b.Call]
	if job == nil {
		if job = j.find(id); job == nil { // it started before the oldest known event
			job = &Job{Began: at}
		}
	}
	if job.ID == "" {
		job.ID = id
		j.list = append(j.list, job)
		j.list = j.list[max(0, len(j.list)-maxJobs):]
	}
	job.Seen = at
	if line := printed(b.Result.Content); line != "" {
		job.Last = line
	}
	switch {
	case meta["killed"] != "":
		job.Over, job.State = true, "killed"
	case meta["exit_code"] == "0":
		job.Over, job.State = true, "done"
	case meta["exit_code"] != "":
		job.Over, job.State = true, "exit "+meta["exit_code"]
	}
}

// find returns the last job with an id: another process starts counting again.
func (j *jobs) find(id string) *Job {
	for i := len(j.list) - 1; i >= 0; i-- {
		if j.list[i].ID == id {
			return j.list[i]
		}
	}
	return nil
}

// printed returns the last line of an output, without the note that the tool appends.
func printed(content string) string {
	content = strings.TrimRight(content, "\n")
	if at := strings.LastIndexByte(content, '\n'); strings.HasPrefix(content[at+1:], "(") && strings.HasSuffix(content, ")") {
		content = content[:max(0, at)]
	}
	return lastLine(content)
}
