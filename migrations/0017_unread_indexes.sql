-- Indexes that every written transaction paid for, and hardly anybody read.

-- Nobody looks for the chains of a profile.
drop index purchase_chain_profile;
-- Facts by the install of their profile are found by the install, and then by profile.
drop index fact_transaction_installed;
