// Package adk makes agents of google.golang.org/adk/v2 durable: an invocation that died, by a
// crash, a deploy or kill -9, goes on at the call that was running.
//
//	Model:   adk.Model(gemini),                     // in the agent's llmagent.Config
//	Plugins: []*plugin.Plugin{adk.Plugin()},        // in the runner's PluginConfig
//
// and the invocation is the work of a run:
//
//	pawl.Do(ctx, store, "order-17", func(ctx context.Context) (string, error) {
//		for event, err := range r.Run(ctx, user, session, message, agent.RunConfig{}) { … }
//	})
//
// [Model] makes each call of a model a step of the run that the context carries, [Plugin] each call
// of a tool; [Tool] has options for single tools. With [SessionService] the session takes part: a
// later start sees it as the first one did, and stores nothing twice. Any other session.Service serves
// too if it forgets with the process, as the framework's in-memory one; one that keeps the
// events of the dead start shows the model another transcript, which is [pawl.ErrInputChanged].
//
// What a later start does: plain code of agents, their callbacks and those of other plugins runs
// again; calls of models and tools that have a recorded result return it; the call that was under
// way is made again, with the same [pawl.IdempotencyKey] in its context; what comes behind it was
// never made. [Repair] keeps every transcript valid that a model sees, also one that an abandoned
// run left half-way.
//
// The rule is pawl's: keys come from data. Here they come from the agent's name and branch and the
// number of its call, and, for tools, from the place of the call in the recorded response. An agent
// must therefore ask the same on every start: an instruction with the time of day is another question,
// [pawl.ErrInputChanged]. Several invocations of one agent that run at the same time in one run need
// a [pawl.Scope] each.
package adk
