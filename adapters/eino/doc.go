// Package eino makes agents of CloudWeGo's eino (github.com/cloudwego/eino, package adk)
// resumable with pawl: a process that is killed in the middle of an agent's work goes on, at its next
// start, with the model or tool call that was running. No call that has ended is made, or paid
// for, twice, and the model sees the transcript that it would have seen.
//
// Two lines are added to an agent. One is its last handler:
//
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
//		…
//		Handlers: []adk.ChatModelAgentMiddleware{eino.Durable()},
//	})
//
// and the other one is [pawl.Do] around its work:
//
//	answer, err := pawl.Do(ctx, store, "weather-42", func(ctx context.Context) (string, error) {
//		return lastWord(adk.NewRunner(ctx, config).Query(ctx, question))
//	})
//
// The agent runs from its beginning at each start; its calls are answered from the record until the
// first one that has none. Events are sent again, so that whoever shows them shows
// the whole conversation.
//
// # What is durable when
//
// A call is recorded, flushed to the device, before its agent goes on with the result. A
// streamed one shows its chunks as they come, and says that it has ended when the whole is recorded: a
// reader may have seen a part of an answer that a start later is another one. Parallel tool calls are
// each recorded on their own.
//
// What comes back is what was recorded, equal to the last Go type: reasoning signatures, the Extra
// fields of vendors, the index 0 of a tool call. A message that could not be given back
// like that is refused when it comes, and not later.
//
// # Keys
//
// A key is made of the agent's name, a digest of what it was asked, the turn, and the position of
// the tool call in the model's message, as in
//
//	weather-3f2a9c1e04/turn/2/tool/0-search
//
// and never of IDs that a model gave: local models name the first call of every turn call_0. An
// agent inside a tool has its keys inside the tool's. An agent that is asked the same thing twice in
// one run has its second work under "weather-3f2a9c1e04#2". Agents that are asked the same at the same
// time may get one another's records at the next start: each a whole conversation, and an answer
// to what it was asked.
//
// A model's step knows by digest each message and the names of the tools that it was given, a tool's
// its arguments. If they are others at a later start, because an instruction or a handler
// changed, the step is [pawl.ErrInputChanged], and says which message; [ModelSteps] takes
// [pawl.RerunOnChange] or [pawl.IgnoreInput] for those who want that. What a run is asked belongs into
// its [pawl.RunInput].
//
// # Errors
//
// A tool's error that ends the agent is none of its results: the tool runs again at the next start.
// If a handler makes a result of it that the model sees, the error is recorded with the model's next
// turn, and that tool does not run again. Errors of pawl (a question that waits, a budget that
// is used up, a step in doubt) end the agent before its next turn even if a handler hides them,
// and errors.Is finds them in the error of the last event; return that from Do.
//
// # Interrupts
//
// Eino's interrupts work as ever; [CheckPoints] keeps their checkpoints. A tool that waits for a
// human may as well use pawl's own waiting, with no checkpoint at all.
package eino
