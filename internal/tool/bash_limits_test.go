package tool

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func init() {
	for name, test := range map[string]func(*testing.T){
		"BashTimeout": func(t *testing.T) {
			for _, c := range []struct {
				in   bashInput
				want time.Duration
			}{
				{bashInput{}, BashTimeout},
				{bashInput{Timeout: 1}, time.Second},
				{bashInput{Timeout: 600}, BashMaxTimeout},
				{bashInput{Timeout: 5, Background: true}, firstLook},
			} {
				if got := c.in.patience(); got != c.want {
					t.Errorf("%+v waits %s, want %s", c.in, got, c.want)
				}
			}
			if schema := string(Bash(nil).Schema); !strings.Contains(schema, fmt.Sprintf("%.0f if left out, at most %.0f", BashTimeout.Seconds(), BashMaxTimeout.Seconds())) {
				t.Errorf("the model is told otherwise: %s", schema)
			}
		},
		"BashMaxTimeout": func(t *testing.T) {
			for seconds, says := range map[int]string{600: "", 601: "timeout must be between 0 and 600 seconds"} {
				_, err := Bash(nil).Access(t.Context(), call("/project", fmt.Sprintf(`{"command":"true","timeout":%d}`, seconds)))
				checkError(t, err, says)
			}
		},
		"BashWait": func(t *testing.T) {
			for seconds, says := range map[int]string{60: "", 61: "wait must be between 0 and 60 seconds", -1: "wait must be between"} {
				_, err := BashOutput(nil).Access(t.Context(), call("/project", fmt.Sprintf(`{"id":"job_1","wait":%d}`, seconds)))
				checkError(t, err, says)
			}
			if schema := string(BashOutput(nil).Schema); !strings.Contains(schema, fmt.Sprintf("at most %.0f", BashWait.Seconds())) {
				t.Errorf("the model is told otherwise: %s", schema)
			}
		},
		"BashBytes": func(t *testing.T) {
			for extra, filed := range map[int]bool{0: false, 1: true} {
				o := newOutput(BashBytes, BashDiskBytes, func(string) {})
				_, _ = o.Write(make([]byte, BashBytes+extra))
				if (o.file != nil) != filed || len(o.ends.head)+len(o.ends.tail) != BashBytes {
					t.Errorf("%d bytes more: %d are in memory, file %v", extra, len(o.ends.head)+len(o.ends.tail), o.file)
				}
				o.close()
			}
		},
		"BashDiskBytes": func(t *testing.T) {
			for extra, size := range map[int]int64{0: BashDiskBytes, 1000: BashDiskBytes + int64(len(dropMark(1000)))} {
				o := newOutput(BashBytes, BashDiskBytes, func(string) {})
				piece := make([]byte, 1<<20)
				for range BashDiskBytes / len(piece) {
					_, _ = o.Write(piece)
				}
				_, _ = o.Write(piece[:extra])
				r, _ := o.since(0)
				if n, err := io.Copy(io.Discard, r); n != size || err != nil {
					t.Errorf("%d bytes more: %d were kept, want %d, %v", extra, n, size, err)
				}
				o.close()
			}
		},
		"BashJobs":      testBashJobs,
		"BashEndedJobs": testBashEndedJobs,
	} {
		limits[name] = test
	}
}

func testBashJobs(t *testing.T) {
	w := newJobEnv(t)
	mine := markProcesses(t)
	w.startMany(BashJobs, "exec sleep 1000")
	const says = "64 jobs are running, which is the most: end one with bash_kill"
	_, err := w.try("bash", fields{"command": "touch refused", "background": true})
	checkError(t, err, says)
	if _, ok := files(t, w.dir)["refused"]; ok {
		t.Error("the command ran although it was refused")
	}
	// One in the foreground may run, but has nowhere to go on.
	w.want("bash", fields{"command": "echo begun; exec sleep 1000", "timeout": 1}, "begun\n(killed after 1s: "+says+")",
		"exit_code=-1 killed=true signal=terminated timeout=true")
	if n := len(mine()); n != BashJobs {
		t.Errorf("%d processes run", n)
	}
	other := w.call(fields{"command": "true", "background": true})
	other.Session = "01JD0000000000000000000001" // has jobs of its own
	if _, err := try(t.Context(), w.tools["bash"], other); err != nil {
		t.Error(err)
	}
	w.must("bash_kill", fields{"id": "job_7"})
	w.must("bash", fields{"command": "exec sleep 1000", "background": true})

	began := time.Now()
	w.jobs.Close()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s to end them", took)
	}
	if left := mine(); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func testBashEndedJobs(t *testing.T) {
	w := newJobEnv(t)
	w.must("bash", fields{"command": "exec sleep 1000", "background": true})
	var oldest *job
	for i := range BashEndedJobs + 2 { // job_2 … job_67
		r := w.must("bash", fields{"command": fmt.Sprintf("echo %d", i), "background": true})
		for r.Meta["exit_code"] == "" {
			r = w.must("bash_output", fields{"id": r.Meta["job"], "wait": 60})
		}
		if i == 0 {
			oldest, _ = w.jobs.find(session, "job_2")
		}
	}
	if !oldest.out.closed {
		t.Error("what it printed is still held")
	}
	_, err := w.try("bash_output", fields{"id": "job_2"})
	checkError(t, err, `job "job_2" not found; running: job_1. Jobs end with Pawl and with their session`)
	for _, id := range []string{"job_1", "job_4", "job_67"} { // job_3 may no longer exist, if the last had ended when it came in
		w.must("bash_output", fields{"id": id})
	}
}
