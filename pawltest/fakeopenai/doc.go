// Package fakeopenai is a local stand-in for a service that speaks OpenAI's chat completions,
// for tests of programs that call one. It answers what the test says, streamed or not; it has
// limits and refuses what goes beyond them, as such services do; it fails, dawdles and drops
// the connection when it is told to; and it keeps a record of all that came.
//
//	model := fakeopenai.New(fakeopenai.Config{Rate: 500, Per: time.Minute, Concurrent: 8})
//	srv := httptest.NewServer(model)
//	defer srv.Close()
//	// point the client at srv.URL + "/v1", and in the end:
//	model.MostIn(time.Minute) // requests
//	model.Statuses()[429]     // of them refused
//	model.Effects("summarize a.txt") // how often that was paid for
//
// It serves POST /v1/chat/completions and nothing else. It knows no key and no model: each is
// accepted. Its tokens are a quarter of the bytes.
package fakeopenai
