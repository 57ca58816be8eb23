module hindsight.test/kusto

go 1.22

require github.com/Azure/azure-kusto-go/azkustodata v1.0.2
