// What a run has shown.
#pragma once

#include "campaign.hpp"

#include <filesystem>

namespace zklock::chaos {

/// Judges a run by what is in its directory. Prints a line for each invariant, and of the first violation of each the
/// shortest history that shows it; writes "results.json" there. True: nothing is violated.
bool report(const CampaignOptions& options, const CampaignOutcome& outcome);

}  // namespace zklock::chaos
