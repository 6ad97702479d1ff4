//go:build sectest

package telemetry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestWeakenedMask: TestContent detects content that is not masked.
func TestWeakenedMask(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("telemetry.redact")()
	r := newReceiver(t)
	w := newEnv(t, Config{Settings: Settings{Endpoint: r.URL, Content: true}, Redact: mask})
	w.work()
	w.close()
	if !strings.Contains(fmt.Sprint(r.spans), "s3cret") {
		t.Error("it is masked all the same: TestContent shows nothing")
	}
}
