-- What a receiver answers may name a profile that is deleted meanwhile. A result under way looked the profile up in a snapshot from before
-- the deletion, and could keep such an answer; the row that it changes it sees as it is.

alter table webhook_delivery add column forgets_answer boolean not null default false;
update webhook_delivery d set forgets_answer = true from profile p
  where p.deleted_at is not null and p.profile_id = d.profile_id;
comment on column webhook_delivery.forgets_answer is 'Its profile is deleted: what receivers answer is not kept.';
