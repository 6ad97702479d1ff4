package access

import (
	"context"

	"github.com/pawl-dev/pawl"
)

type actorKey struct{}

// WithActor says who asks. The service writes it into the events that a person's
// request makes.
func WithActor(ctx context.Context, a pawl.Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns who asks: whoever runs pawl, unless it was said.
func ActorOf(ctx context.Context) pawl.Actor {
	a, _ := ctx.Value(actorKey{}).(pawl.Actor)
	return a
}
