//! What UCX refuses.

use crate::ucp;
use std::ffi::CStr;

/// A request that the network did not carry out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// UCX says why.
    #[error("{action}: {reason}")]
    Refused {
        /// What was tried.
        action: &'static str,
        /// UCX's own words.
        reason: String,
    },
    /// The network was [closed](crate::Network::close) while this waited.
    #[error("the network is closed")]
    Closed,
    /// The system refused something beside UCX.
    #[error("{action}: {reason}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's message.
        reason: String,
    },
}

impl NetworkError {
    pub(crate) fn system(action: &'static str, error: impl std::fmt::Display) -> NetworkError {
        NetworkError::System { action, reason: error.to_string() }
    }

    /// Of a refusal to register memory: adapters need it locked, and this process may lock so many bytes.
    pub(crate) fn beside_a_limit(self, bytes: Option<u64>) -> NetworkError {
        match (self, bytes) {
            (NetworkError::Refused { action, reason }, Some(bytes)) => NetworkError::Refused {
                action,
                reason: format!(
                    "{reason} (this process may lock {bytes} bytes: ulimit -l unlimited, or the host's limits)"
                ),
            },
            (error, _) => error,
        }
    }
}

/// Did `action` succeed?
pub(crate) fn check(action: &'static str, status: ucp::ucs_status_t) -> Result<(), NetworkError> {
    if status == ucp::UCS_OK { Ok(()) } else { Err(refusal(action, status)) }
}

/// The error that a status stands for.
pub(crate) fn refusal(action: &'static str, status: ucp::ucs_status_t) -> NetworkError {
    // SAFETY: UCX gives a static text for every status.
    let reason = unsafe { CStr::from_ptr(ucp::ucs_status_string(status)) }.to_string_lossy().into_owned();
    NetworkError::Refused { action, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_locked_memory_is_told() {
        let refused = || refusal("register memory", ucp::UCS_ERR_IO_ERROR);
        assert_eq!(refused().beside_a_limit(None), refused());
        let told = refused().beside_a_limit(Some(65_536)).to_string();
        assert!(told.starts_with("register memory: ") && told.contains("may lock 65536 bytes: ulimit -l"), "{told}");
    }
}
