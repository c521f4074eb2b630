//! What ranks that make a study together agree on before they go on.

use crate::StudyError;
use tremula_fabric::Fabric;

/// *Collective.* Go on if all ranks can; else the lowest that cannot has the reason.
pub(crate) fn agree<F: Fabric, T>(fabric: &F, mine: Result<T, StudyError>) -> Result<T, StudyError> {
    let fine = fabric.all_gather(&[u64::from(mine.is_ok())])?;
    match (fine.iter().position(|fine| fine[0] == 0), mine) {
        (None, mine) => mine,
        (Some(lowest), Err(error)) if lowest == fabric.rank() => Err(error),
        (Some(lowest), _) => Err(StudyError::Elsewhere(lowest)),
    }
}
