// The report on a run.
#pragma once

#include "campaign.hpp"

#include <filesystem>

namespace zklock::chaos {

/// Judges a run by the files in its directory. Prints a line for each invariant, and of the first violation of each the
/// shortest history that shows it. Writes "results.json" there. True: no invariant is violated.
bool report(const CampaignOptions& options, const CampaignOutcome& outcome);

}  // namespace zklock::chaos
