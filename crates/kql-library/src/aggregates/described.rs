//! The aggregate of a description, which another process wrote.

use hindsight_kql_types::ScalarType;

use super::{
    arg_max, avg, buildschema, dcount, hll, make_bag, make_list, min_max, percentile, tdigest,
};
use crate::states::description::{Description, PickedRow};
use crate::states::groups::GroupsUdaf;
use crate::states::hyperloglog::is_index_bits;
use crate::states::pick::Pick;

/// The aggregate; `None` if the description is none that this program writes.
pub(crate) fn described(description: &Description) -> Option<GroupsUdaf> {
    Some(match description {
        Description::RealExtreme(largest) => min_max::real_extreme(*largest),
        Description::AverageTicks(()) => avg::ticks_mean(),
        Description::DistinctCount(bits) => dcount::distinct_count(index_bits(*bits)?),
        Description::PickRow(row) => {
            let pick = match PickedRow::try_from(row.pick).ok()? {
                PickedRow::None => return None,
                PickedRow::Largest => Pick::Largest,
                PickedRow::Smallest => Pick::Smallest,
                PickedRow::First => Pick::First,
            };
            let kinds = row.kinds.iter().map(|kind| ScalarType::parse(kind));
            arg_max::picked_row(pick, &kinds.collect::<Option<Vec<_>>>()?)
        }
        Description::Percentiles(of) => {
            let is_percentage = |percent: &f64| (0.0..=100.0).contains(percent);
            let percents = of.percents.as_slice();
            let percents = percents.iter().all(is_percentage).then_some(percents)?;
            let kind = ScalarType::parse(&of.kind)?;
            percentile::percentiles(percents.into(), kind, of.weighted)
        }
        Description::Tdigest(of) => tdigest::tdigest(ScalarType::parse(&of.kind)?, of.weighted),
        Description::TdigestMerge(()) => tdigest::tdigest_merge(),
        Description::MakeBag(limit) => make_bag::bag(usize::try_from(*limit).ok()?),
        Description::Hll(bits) => hll::hll(index_bits(*bits)?),
        Description::HllMerge(()) => hll::hll_merge(),
        Description::Collect(of) => {
            let kind = ScalarType::parse(&of.kind)?;
            let limit = usize::try_from(of.limit).ok()?;
            make_list::collected(kind, limit, of.distinct, of.nulls)
        }
        Description::BuildSchema(()) => buildschema::schema(),
    })
}

fn index_bits(bits: u32) -> Option<u8> {
    u8::try_from(bits).ok().filter(|bits| is_index_bits(*bits))
}
