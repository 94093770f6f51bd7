package fakeopenai_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/pawlgo/pawl/pawltest/fakeopenai"
)

// A service that is busy at first, then answers, and refuses what is more than two a minute.
func Example() {
	model := fakeopenai.New(fakeopenai.Config{
		Rate: 2, Per: time.Minute,
		Answer: func(r fakeopenai.Request) fakeopenai.Reply {
			if r.Nth == 1 {
				return fakeopenai.Reply{Status: http.StatusServiceUnavailable}
			}
			return fakeopenai.Reply{Text: "a summary of " + r.Last("user")}
		},
	})
	srv := httptest.NewServer(model)
	defer srv.Close()

	for range 3 {
		res, err := http.Post(srv.URL+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model": "any", "messages": [{"role": "user", "content": "a.txt"}]}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		res.Body.Close()
		fmt.Println(res.Status)
	}
	fmt.Println("requests:", model.MostIn(time.Minute), "paid for:", model.Effects("a.txt"))
	// Output:
	// 503 Service Unavailable
	// 200 OK
	// 429 Too Many Requests
	// requests: 3 paid for: 1
}
