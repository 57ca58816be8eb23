//! Keys of bags read from columns: the same answers as from the bags, and columns in the plan.

use super::World;

#[tokio::test]
async fn leaves_change_no_answer() {
    let world = World::new().await;
    for query in [
        "requests | where customDimensions.tenantId == 'tenant-3' | count",
        "requests | where customDimensions['tenantId'] != 'tenant-3' | count",
        "requests | where 'tenant-3' == customDimensions.tenantId | count",
        "requests | where customDimensions.region == '' | count",
        "requests | where customDimensions.region != '' | count",
        "requests | where not(customDimensions.region == 'region-1') | count",
        "requests | where customDimensions.region == 'region-1' or customDimensions.size == '2' | count",
        "requests | where customDimensions.size == '2' | count",
        "requests | where customDimensions.size == 2 | count",
        "requests | where customDimensions.size > 2 | count",
        "requests | where customDimensions.region in ('region-0', 'region-1') | count",
        "requests | where customDimensions.region in ('region-0', '') | count",
        "requests | where customDimensions.region !in ('region-0') | count",
        "requests | where customDimensions.note in ('', 'true') | count",
        "requests | where customDimensions.note in ('true') | count",
        "requests | where tostring(customDimensions.region) in ('region-0', '') | count",
        "requests | where customDimensions.region in~ ('REGION-0') | count",
        "requests | where customDimensions.region has 'region' | count",
        "requests | where customDimensions.region !has 'region' | count",
        "requests | where customDimensions.region contains 'ION-1' | count",
        "requests | where customDimensions.region startswith 'r' and customDimensions.region !endswith '1' | count",
        "requests | where customDimensions.region =~ 'REGION-1' | count",
        "requests | where customDimensions.region has_any ('1', 'x') | count",
        "requests | where customDimensions.region matches regex '^region-[01]$' | count",
        "requests | where isempty(customDimensions.region) | count",
        "requests | where isnull(customDimensions.region) | count",
        "requests | where isnotempty(tostring(customDimensions.note)) | project itemId, customDimensions.note",
        "requests | summarize c = count() by tostring(customDimensions.region)",
        "requests | summarize count() by g = tostring(customDimensions.note)",
        "requests | extend r = tostring(customDimensions.region) | where r == 'region-1' | summarize count(), dcount(r)",
        "requests | extend d = customDimensions | where d.size == '1' | summarize count() by tostring(d.region)",
        "requests | extend customDimensions = dynamic({'region': 'x'}) | summarize count() by tostring(customDimensions.region)",
        "requests | project-rename bag = customDimensions | where bag.tenantId == 'tenant-1' | count",
        "requests | summarize sum(todouble(customMeasurements.items)), avg(todouble(customMeasurements.weight)) by tostring(customDimensions.size)",
        "requests | where todouble(customMeasurements.items) > 100 | count",
        "requests | where customMeasurements.items > 100 | count",
        "requests | summarize max(toreal(customMeasurements['items'])), count() by m = tostring(customMeasurements.items) | top 5 by m",
        "requests | where todouble(customDimensions.size) > 1 | count",
        "requests | where toint(customDimensions.size) == 2 | count",
        "requests | project operation_Id, customDimensions | join kind=inner (dependencies | project operation_Id, customDimensions) on operation_Id | where customDimensions.tenantId == 'tenant-1' and customDimensions1.region == 'region-1' | count",
        "requests | where operation_Id endswith '-5' | join kind=rightouter (dependencies | where operation_Id endswith '5') on operation_Id | summarize count() by a = tostring(customDimensions.tenantId), b = tostring(customDimensions1.size)",
        "requests | join kind=leftsemi (dependencies | where customDimensions.tenantId == 'tenant-1') on operation_Id | summarize count() by tostring(customDimensions.size)",
        "union requests, dependencies, traces | summarize count() by itemType, tostring(customDimensions.region)",
        "union requests, traces | where customDimensions.tenantId == 'tenant-1' | summarize sum(todouble(customMeasurements.items))",
        "union withsource=t (requests | where customDimensions.size == '1'), (traces | project customDimensions) | summarize count() by t, tostring(customDimensions.region)",
        "requests | sort by tostring(customDimensions.region) asc, itemId asc | take 7 | project itemId, customDimensions",
        "requests | top 5 by strcat(customDimensions.tenantId, itemId) desc | project itemId",
        "requests | distinct tostring(customDimensions.region)",
        "requests | where tostring(customDimensions.note.a) != '' | count",
        "requests | mv-expand x = customDimensions.note.a to typeof(string) | where customDimensions.size == '0' | count",
        "let wanted = dependencies | where customDimensions.region == 'region-1' | distinct operation_Id; requests | where operation_Id in (wanted) | summarize count() by tostring(customDimensions.tenantId)",
        "let n = toscalar(requests | where customDimensions.size == '1' | count); print n",
        "AppRequests | where Properties.tenantId == 'tenant-1' | summarize count() by tostring(Properties.region)",
        "requests | take 0 | summarize count() by tostring(customDimensions.region)",
    ] {
        let (with, without) = (
            world.run_with(query, true).await,
            world.run_with(query, false).await,
        );
        assert_eq!(with.rows(), without.rows(), "{query}\n{}", with.plan);
    }
}

#[tokio::test]
async fn filter_and_group_read_the_columns_and_no_bag() {
    let world = World::new().await;
    for query in [
        "requests | where customDimensions.tenantId == 'tenant-3' | summarize c = count() by g = tostring(customDimensions.region) | sort by c",
        "AppRequests | where Properties.tenantId == 'tenant-3' | summarize count() by tostring(Properties.region)",
        "requests | extend r = tostring(customDimensions.region) | where customDimensions.tenantId in ('tenant-3', 'x') | summarize count() by r",
        "union requests, dependencies | where customDimensions.tenantId == 'tenant-3' | summarize count() by tostring(customDimensions.region)",
        "requests | join kind=inner (dependencies | project operation_Id) on operation_Id | where customDimensions.tenantId == 'tenant-3' | summarize count() by tostring(customDimensions.region)",
    ] {
        let ran = world.run(query).await;
        let leaves = |line: &&&str| line.contains("customDimensions.tenantId");
        assert!(
            ran.scans().iter().any(|l| leaves(&l)),
            "{query}\n{}",
            ran.plan
        );
        for columns in ran.columns() {
            let bag = columns
                .iter()
                .any(|column| column.split(['@', ' ']).next() == Some("customDimensions"));
            assert!(!bag, "{query}\n{}", ran.plan);
        }
    }
}

#[tokio::test]
async fn equality_with_a_key_prunes() {
    let world = World::new().await;
    let ran = world
        .run("requests | where customDimensions.tenantId == 'tenant-9' | count")
        .await;
    ran.has("customDimensions.tenantId@");
    ran.has("row_groups_pruned_statistics=12 total → 0 matched");
    let measured = world
        .run("requests | where todouble(customMeasurements.items) > 1e9 | summarize count()")
        .await;
    measured.has("predicate=customMeasurements.items@");
}
