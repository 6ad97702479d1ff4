//go:build fleet

package fleet

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/pawl-dev/pawl/fleet/runner"
)

// ownNamespace makes a namespace of the engine for a test: which version of the coordinators
// is the current one is remembered permanently, and decides who gets work.
func ownNamespace(t testing.TB, address string) runner.Engine {
	t.Helper()
	name := "pawl-" + strings.ToLower(ulid.Make().String())
	e, err := runner.Dial(t.Context(), address, name, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	_, err = e.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := e.OperatorService().DeleteNamespace(ctx, &operatorservice.DeleteNamespaceRequest{Namespace: name}); err != nil {
			t.Logf("the namespace %s stays: %v", name, err)
		}
	})
	await(t, "the namespace "+name, func() bool {
		_, err := e.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: name})
		return err == nil
	})
	return e
}
