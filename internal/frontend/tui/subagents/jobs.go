package subagents

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
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
	call    pawl.CallID
}

// jobs are the background commands of a session, oldest first.
type jobs []*Job

// maxJobs bounds how many are kept.
const maxJobs = 50

// call applies a tool call, whose result may be about a job.
func (j *jobs) call(it transcript.Item) {
	c := it.Call
	meta := c.Result.Meta
	id := meta["job"]
	if id == "" {
		return
	}
	job := j.find(id)
	if job == nil || c.Tool == "bash" && job.call != c.ID { // without a command, it started before the oldest known event
		var in struct{ Command string }
		_ = json.Unmarshal(c.Input, &in) // the tool reports the error
		job = &Job{ID: id, Command: in.Command, Began: it.At, call: c.ID}
		*j = append(*j, job)
		*j = (*j)[max(0, len(*j)-maxJobs):]
	}
	job.Seen = it.At
	if !c.Started.IsZero() {
		job.Seen = c.Started.Add(it.Took)
	}
	if line := printed(c.Result.Content); line != "" {
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
	for _, job := range slices.Backward(*j) {
		if job.ID == id {
			return job
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
