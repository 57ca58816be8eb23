// Queries a server by the Kusto client of Go and prints each row as a line of JSON: go run . URL DATABASE TOKEN QUERY
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/Azure/azure-kusto-go/azkustodata"
	"github.com/Azure/azure-kusto-go/azkustodata/kql"
	"github.com/Azure/azure-kusto-go/azkustodata/query"
)

type row struct {
	ID         string    `kusto:"id" json:"id"`
	Name       string    `kusto:"name" json:"name"`
	ResultCode string    `kusto:"resultCode" json:"resultCode"`
	OK         bool      `kusto:"ok" json:"ok"`
	Duration   float64   `kusto:"duration" json:"duration"`
	Timestamp  time.Time `kusto:"timestamp" json:"timestamp"`
}

func main() {
	url, database, token, text := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	client, err := azkustodata.New(azkustodata.NewConnectionStringBuilder(url).WithApplicationToken("", token))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	dataset, err := client.Query(context.Background(), database, kql.New("").AddUnsafe(text))
	if err != nil {
		log.Fatal(err)
	}
	rows, err := query.ToStructs[row](dataset)
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	for _, r := range rows {
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
}
